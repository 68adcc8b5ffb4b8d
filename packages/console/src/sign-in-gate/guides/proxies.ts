/* Proxies in front of sites: each asks here about every request. */
import type { Guide, GuideFacts, GuideStep } from './guide.ts'
import { toCaddy, toEnvoy, toNginx, toTraefik } from './proxy-configurations.ts'

const TRUST: GuideStep = {
  title: 'Name the proxy at Heliograph',
  text: 'What a proxy says of requests is believed from named addresses alone. Add its address to HELIOGRAPH_TRUSTED_PROXIES, and start Heliograph again. Let the proxy ask Heliograph directly, without a load balancer between.',
}

const TRY: GuideStep = {
  title: 'Try it',
  text: 'Open the site in a private window: it leads to the sign-in and back. Where it does not, the header X-Heliograph-Refusal of the answer says why. See that the site cannot be reached past the proxy, or let it verify X-Heliograph-Token.',
}

const COMES_BACK =
  'Headers to the site: X-Heliograph-Person-Id, -Person-Email, -Person-Name, -Device-Id, -Device-Name, -Device-Auth-State, -Assurance, and X-Heliograph-Token, the same as a token signed by the keys of the issuer, good for a minute.'

const SHARED = {
  kind: 'forward_auth',
  mode: 'broker',
  comesBack: COMES_BACK,
  before:
    'A proxy does not say who signs in, so an upstream provider must: set it up first. Sites are reached by HTTPS. Have at hand the hosts that people type, and the address of the proxy as Heliograph sees it.',
} as const

const askedBy = ({ application: { hosts, issuer } }: GuideFacts) => ({
  hosts,
  auth: `${issuer}/auth`,
})

const nginxStep = (facts: GuideFacts): GuideStep => ({
  title: 'Configure nginx',
  text: 'Add this to the server of the site, and the lines of "location /" to every location that is not to be public. The address in the last proxy_pass is that of the site itself.',
  code: { name: 'nginx configuration', value: toNginx(askedBy(facts)) },
})

const caddyStep = (facts: GuideFacts): GuideStep => ({
  title: 'Configure Caddy',
  text: 'Put what the site has into the route, after forward_auth: here a reverse proxy.',
  code: { name: 'Caddyfile', value: toCaddy(askedBy(facts)) },
})

const traefikStep = (facts: GuideFacts): GuideStep => ({
  title: 'Configure Traefik',
  text: 'Add the middleware, and name it first in every router of the site.',
  code: { name: 'Traefik dynamic configuration', value: toTraefik(askedBy(facts)) },
})

const envoyStep = (facts: GuideFacts): GuideStep => ({
  title: 'Configure Envoy',
  text: 'Add the filter before the router, a cluster "heliograph" with TLS, and headers_with_underscores_action: REJECT_REQUEST to the protocol options.',
  code: { name: 'Envoy filter', value: toEnvoy(askedBy(facts)) },
})

function guideFor(id: string, name: string, configure: (facts: GuideFacts) => GuideStep): Guide {
  const lead = `A site behind ${name}: it asks about each request, and a blocked device is stopped at its next one.`
  return { ...SHARED, id, name, lead, steps: (facts) => [TRUST, configure(facts), TRY] }
}

export const nginx = guideFor('nginx', 'nginx', nginxStep)
export const caddy = guideFor('caddy', 'Caddy', caddyStep)
export const traefik = guideFor('traefik', 'Traefik', traefikStep)
export const envoy = guideFor('envoy', 'Envoy', envoyStep)

/** Of a site whose proxy is not known: one of them is done. */
export const anyProxy: Guide = {
  ...SHARED,
  id: 'proxy',
  name: 'the proxy',
  lead: 'A site behind a proxy that asks about each request.',
  steps: (facts) => [
    TRUST,
    ...[nginxStep, caddyStep, traefikStep, envoyStep].map((step) => {
      const { title, ...rest } = step(facts)
      return { ...rest, title: title.replace('Configure', 'If it is') }
    }),
    TRY,
  ],
}
