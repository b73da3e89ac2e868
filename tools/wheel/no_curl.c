/* Replaces libcurl in wheels. Debian's HDF5 calls libcurl only for files in cloud storage, which sptile never
 * opens, and libcurl depends on about twenty libraries of network protocols. Every call of this stub fails.
 */
#include <stddef.h>

int curl_global_init(long flags);
void curl_global_cleanup(void);
void* curl_easy_init(void);
void curl_easy_cleanup(void* handle);
int curl_easy_setopt(void* handle, int option, ...);
int curl_easy_perform(void* handle);
void* curl_slist_append(void* list, const char* text);
void curl_slist_free_all(void* list);

enum { FAILED_INIT = 2 };

int curl_global_init(long flags) {
  (void)flags;
  return FAILED_INIT;
}
void curl_global_cleanup(void) {}
void* curl_easy_init(void) { return NULL; }
void curl_easy_cleanup(void* handle) { (void)handle; }
int curl_easy_setopt(void* handle, int option, ...) {
  (void)handle, (void)option;
  return FAILED_INIT;
}
int curl_easy_perform(void* handle) {
  (void)handle;
  return FAILED_INIT;
}
void* curl_slist_append(void* list, const char* text) {
  (void)list, (void)text;
  return NULL;
}
void curl_slist_free_all(void* list) { (void)list; }
