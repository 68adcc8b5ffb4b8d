/* What is entered at proxies; docs/sign-in.md shows the same for one site. */

/** A site, and the service that its proxy asks. */
interface Asked {
  readonly hosts: readonly string[]
  /** Where the proxy asks. */
  readonly auth: string
}

/** A server for each host: what is asked about is written out, for a client can name another host. */
export function toNginx({ hosts, auth }: Asked): string {
  const service = new URL(auth).host
  return hosts.map((host) => toNginxServer(host, auth, service)).join('\n\n')
}

function toNginxServer(host: string, auth: string, service: string): string {
  const [name, port = '443'] = host.split(':')
  return `server {
  listen ${port} ssl;
  server_name ${name};

  location = /heliograph-auth {
    internal;
    proxy_pass ${auth};
    proxy_ssl_server_name on;
    proxy_ssl_verify on;
    proxy_ssl_trusted_certificate /etc/ssl/certs/ca-certificates.crt;
    proxy_pass_request_body off;
    proxy_set_header Content-Length "";
    proxy_set_header Upgrade "";
    proxy_set_header Host ${service};
    # The host is written out: a client can name another one than that of the server.
    proxy_set_header X-Original-URL https://${host}$request_uri;
    proxy_set_header X-Original-Method $request_method;
    proxy_set_header X-Forwarded-Method "";
    proxy_set_header X-Forwarded-Proto "";
    proxy_set_header X-Forwarded-Host "";
    proxy_set_header X-Forwarded-Uri "";
  }

  location / {
    auth_request /heliograph-auth;
    auth_request_set $heliograph_to $upstream_http_location;
    auth_request_set $heliograph_cookie $upstream_http_set_cookie;
    auth_request_set $heliograph_person_id $upstream_http_x_heliograph_person_id;
    auth_request_set $heliograph_person_email $upstream_http_x_heliograph_person_email;
    auth_request_set $heliograph_person_name $upstream_http_x_heliograph_person_name;
    auth_request_set $heliograph_device_id $upstream_http_x_heliograph_device_id;
    auth_request_set $heliograph_device_name $upstream_http_x_heliograph_device_name;
    auth_request_set $heliograph_auth_state $upstream_http_x_heliograph_device_auth_state;
    auth_request_set $heliograph_assurance $upstream_http_x_heliograph_assurance;
    auth_request_set $heliograph_token $upstream_http_x_heliograph_token;
    error_page 401 = @heliograph;

    proxy_set_header Host $host;
    proxy_set_header X-Heliograph-Person-Id $heliograph_person_id;
    proxy_set_header X-Heliograph-Person-Email $heliograph_person_email;
    proxy_set_header X-Heliograph-Person-Name $heliograph_person_name;
    proxy_set_header X-Heliograph-Device-Id $heliograph_device_id;
    proxy_set_header X-Heliograph-Device-Name $heliograph_device_name;
    proxy_set_header X-Heliograph-Device-Auth-State $heliograph_auth_state;
    proxy_set_header X-Heliograph-Assurance $heliograph_assurance;
    proxy_set_header X-Heliograph-Token $heliograph_token;
    proxy_pass http://127.0.0.1:8080;
  }

  location @heliograph {
    add_header Set-Cookie $heliograph_cookie always;
    add_header Cache-Control no-store always;
    if ($heliograph_to = "") {
      return 401;
    }
    return 302 $heliograph_to;
  }
}`
}

export function toCaddy({ hosts, auth }: Asked): string {
  const { origin, host: service, pathname: path } = new URL(auth)
  return `${hosts.join(', ')} {
	# In this order: what a client has sent of these names goes first.
	route {
		request_header -X-Heliograph-*
		forward_auth ${origin} {
			uri ${path}
			header_up Host ${service}
			header_up -X-Original-URL
			header_up -Upgrade
			header_up -Connection
			copy_headers X-Heliograph-Person-Id X-Heliograph-Person-Email X-Heliograph-Person-Name X-Heliograph-Device-Id X-Heliograph-Device-Name X-Heliograph-Device-Auth-State X-Heliograph-Assurance X-Heliograph-Token
		}
		reverse_proxy 127.0.0.1:8080
	}
}`
}

export function toTraefik({ hosts, auth }: Asked): string {
  const rule = hosts.map((host) => `Host(\`${host.replace(/:.*/, '')}\`)`).join(' || ')
  return `http:
  middlewares:
    heliograph:
      forwardAuth:
        address: ${auth}
        # What a client says of its request is not taken for what it is.
        trustForwardHeader: false
        authResponseHeadersRegex: ^X-Heliograph-
  routers:
    wiki:
      rule: ${rule}
      entryPoints: [websecure]
      middlewares: [heliograph]
      service: wiki
      tls: {}`
}

export function toEnvoy({ auth }: Pick<Asked, 'auth'>): string {
  const { origin, pathname: path } = new URL(auth)
  return `http_filters:
  - name: envoy.filters.http.ext_authz
    typed_config:
      '@type': type.googleapis.com/envoy.extensions.filters.http.ext_authz.v3.ExtAuthz
      failure_mode_allow: false
      http_service:
        server_uri:
          uri: ${origin}
          cluster: heliograph
          timeout: 5s
        path_prefix: ${path}/envoy
        authorization_request:
          allowed_headers:
            patterns:
              - exact: cookie
              - exact: accept
              - exact: sec-fetch-mode
              - exact: upgrade
              - exact: x-forwarded-proto
        authorization_response:
          allowed_upstream_headers:
            patterns:
              - prefix: x-heliograph-
          allowed_client_headers:
            patterns:
              - exact: location
              - exact: set-cookie
              - exact: content-type
              - exact: cache-control
              - exact: x-heliograph-refusal`
}
