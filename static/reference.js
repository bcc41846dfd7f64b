// Starts Swagger UI on this page's OpenAPI document. It is a file because the content security policy forbids inline scripts.
const container = document.getElementById("reference");
const csrfCookie = document.cookie.split("; ").find((cookie) => cookie.startsWith(`${container.dataset.csrfCookie}=`));

const darkScheme = window.matchMedia("(prefers-color-scheme: dark)");
const updateScheme = () => document.documentElement.classList.toggle("dark-mode", darkScheme.matches);
darkScheme.addEventListener("change", updateScheme);
updateScheme();

// Swagger UI puts links inside buttons, which is invalid HTML; they become plain text.
const PlainLinks = {
  wrapComponents: {
    DeepLink: (Link, { React }) => ({ text }) => React.createElement("span", null, text),
  },
};

// Swagger UI leaves selects without a label, its examples cannot be scrolled by keyboard, and content above <main> is in no landmark.
const LANDMARKS = { "information-container": "About this API", "scheme-container": "Server and authorization" };
const accessibilityObserver = new MutationObserver(() => {
  for (const select of container.querySelectorAll("select:not([aria-label])")) {
    select.setAttribute("aria-label", select.id === "servers" ? "Server" : "Media type or example");
  }
  for (const example of container.querySelectorAll("pre.microlight:not([tabindex])")) {
    example.tabIndex = 0;
  }
  for (const [name, label] of Object.entries(LANDMARKS)) {
    const landmark = container.querySelector(`.${name}:not([role])`);
    landmark?.setAttribute("role", "region");
    landmark?.setAttribute("aria-label", label);
  }
});
accessibilityObserver.observe(container, { childList: true, subtree: true });

fetch(container.dataset.documentUrl)
  .then((response) => response.json())
  .then((apiDocument) => {
    // The content security policy allows requests to the host of this page only, whichever of its names was used.
    apiDocument.servers = [{ url: window.location.origin }];
    window.ui = SwaggerUIBundle({
      spec: apiDocument,
      dom_id: "#reference",
      deepLinking: true,
      persistAuthorization: false,
      displayRequestDuration: true,
      docExpansion: "none",
      requestSnippetsEnabled: true,
      plugins: [PlainLinks],
      oauth2RedirectUrl: new URL(container.dataset.redirectUrl, window.location.href).href,
      requestInterceptor: (request) => {
        if (csrfCookie && !request.headers.Authorization) {
          request.headers["X-CSRFToken"] = csrfCookie.split("=")[1]; // requests authenticated by the session need it
        }
        return request;
      },
    });
    window.ui.initOAuth({ usePkceWithAuthorizationCodeGrant: true, scopes: "svc:read" });
  });
