// Lets the search run on pages that are opened from a disk. Browsers refuse workers there, so the script of the worker
// runs in a hidden frame, which passes messages as a worker does.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      this.waiting = [];
      document.body.appendChild(this.frame);
      const inside = this.frame.contentWindow;
      inside.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", {data}));
      inside.importScripts = (...urls) => Promise.all(urls.map((each) => this.load(each)));
      this.load(url).then(() => {
        for (const data of this.waiting) this.send(data);
        this.waiting = null;
      });
    }

    load(url) {
      return new Promise((resolve, reject) => {
        const script = this.frame.contentDocument.createElement("script");
        Object.assign(script, {src: url, onload: resolve, onerror: reject});
        this.frame.contentDocument.body.appendChild(script);
      });
    }

    send(data) {
      this.frame.contentWindow.dispatchEvent(new this.frame.contentWindow.MessageEvent("message", {data}));
    }

    postMessage(data) {
      if (this.waiting) this.waiting.push(data);
      else this.send(data);
    }
  };
}
