// Starts Swagger UI on the page's own document; inline script would break the content security policy.
const place = document.getElementById("reference");
const csrf = document.cookie.split("; ").find((cookie) => cookie.startsWith(`${place.dataset.csrf}=`));

const dark = window.matchMedia("(prefers-color-scheme: dark)");
const follow = () => document.documentElement.classList.toggle("dark-mode", dark.matches);
dark.addEventListener("change", follow);
follow();

// What Swagger UI makes a link stands inside a button.
const PlainLinks = {
  wrapComponents: {
    DeepLink: (Link, { React }) => ({ text }) => React.createElement("span", null, text),
  },
};

// Swagger UI names no list of choices, its examples scroll for the mouse alone, and above its <main> nothing is a landmark.
const LANDMARKS = { "information-container": "About this API", "scheme-container": "Server and authorization" };
const unnamed = new MutationObserver(() => {
  for (const each of place.querySelectorAll("select:not([aria-label])")) {
    each.setAttribute("aria-label", each.id === "servers" ? "Server" : "Media type or example");
  }
  for (const each of place.querySelectorAll("pre.microlight:not([tabindex])")) {
    each.tabIndex = 0;
  }
  for (const [name, label] of Object.entries(LANDMARKS)) {
    const each = place.querySelector(`.${name}:not([role])`);
    each?.setAttribute("role", "region");
    each?.setAttribute("aria-label", label);
  }
});
unnamed.observe(place, { childList: true, subtree: true });

fetch(place.dataset.document)
  .then((answer) => answer.json())
  .then((description) => {
    // The policy lets this page call its own host only, under whichever of its names it was opened.
    description.servers = [{ url: window.location.origin }];
    window.ui = SwaggerUIBundle({
      spec: description,
      dom_id: "#reference",
      deepLinking: true,
      persistAuthorization: false,
      displayRequestDuration: true,
      docExpansion: "none",
      requestSnippetsEnabled: true,
      plugins: [PlainLinks],
      oauth2RedirectUrl: new URL(place.dataset.redirect, window.location.href).href,
      requestInterceptor: (request) => {
        if (csrf && !request.headers.Authorization) {
          request.headers["X-CSRFToken"] = csrf.split("=")[1]; // calls by session need it
        }
        return request;
      },
    });
    window.ui.initOAuth({ usePkceWithAuthorizationCodeGrant: true, scopes: "svc:read" });
  });
