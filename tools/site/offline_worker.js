// Runs workers in frames on pages opened from a disk, where browsers refuse them: the search needs one.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      this.waiting = [];
      const frame = document.createElement("iframe");
      frame.hidden = true;
      frame.srcdoc = "<!doctype html><title>worker</title>";
      frame.addEventListener("load", () => this.start(frame.contentWindow, url), {once: true});
      document.documentElement.append(frame);
    }

    // Gives the frame the functions of a worker, then loads the script.
    start(inside, url) {
      const load = source => new Promise((done, fail) => {
        const script = inside.document.createElement("script");
        Object.assign(script, {src: source, onload: done, onerror: fail});
        inside.document.head.append(script);
      });
      inside.importScripts = (...sources) => sources.reduce((ready, source) => ready.then(() => load(source)), Promise.resolve());
      inside.postMessage = data => this.dispatchEvent(new MessageEvent("message", {data}));
      load(url).then(() => {
        this.inside = inside;
        this.waiting.splice(0).forEach(data => this.postMessage(data));
      });
    }

    postMessage(data) {
      if (this.inside) this.inside.dispatchEvent(new this.inside.MessageEvent("message", {data}));
      else this.waiting.push(data);
    }
  };
}
