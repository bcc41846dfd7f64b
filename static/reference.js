// Starts Swagger UI on the page's own document; inline script would break the content security policy.
const place = document.getElementById("reference");
const csrf = document.cookie.split("; ").find((cookie) => cookie.startsWith(`${place.dataset.csrf}=`));
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
