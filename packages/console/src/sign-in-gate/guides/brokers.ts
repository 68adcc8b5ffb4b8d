import { credentials, endpointsOf, toOrigin, trimEnd, type Guide } from './guide.ts'

/** Google Workspace, a custom OIDC profile: Google is the relying party. */
export const google: Guide = {
  id: 'google',
  name: 'Google Workspace',
  lead: 'Google sends people here, and another identity provider says who they are.',
  before:
    'Google does not say who signs in, so an upstream provider must: set it up first. It must not be the same Google domain, or people are sent around in a circle. Super admins always sign in at Google itself. Begin in the Google admin console: it shows its redirect URI where the profile is added.',
  kind: 'oidc',
  mode: 'broker',
  redirect: {
    label: 'Redirect URI that Google shows',
    help: 'Of the OIDC profile in the Google admin console.',
    placeholder: 'https://…',
    toRedirectUri: (text) => text.trim(),
  },
  steps: (facts) => [
    {
      title: 'Add an OIDC profile',
      text: 'In the Google admin console open Security > Authentication > SSO with third party IdP and add an OIDC profile. Google reads the rest from the issuer.',
      values: [
        { label: 'Issuer URL', value: facts.application.issuer },
        ...credentials(facts, 'Client ID', 'Client secret'),
      ],
    },
    {
      title: 'Assign it to some people',
      text: 'Under "Manage SSO profile assignments" choose one organisational unit or group first, and this profile for it.',
    },
    {
      title: 'See that addresses agree',
      text: 'Google lets in whose address it knows: the e-mail address of the upstream provider must be the one of the Google account.',
    },
  ],
  comesBack: 'An ID token with email, email_verified, name, and how the device was known (acr).',
}

/** Keycloak as a broker: an identity provider of a realm. */
export const keycloak: Guide = {
  id: 'keycloak',
  name: 'Keycloak',
  lead: 'A realm sends people here as one of its identity providers.',
  before:
    'Keycloak has no external second factor: people sign in here by an upstream provider (it may be another realm), and Keycloak takes the result. Choose a short alias for it now.',
  kind: 'oidc',
  mode: 'broker',
  redirect: {
    label: 'Address of the realm, with the alias',
    help: 'The address of the realm, then /broker/, then the alias. Keycloak shows it as "Redirect URI", ending in /endpoint.',
    placeholder: 'https://keycloak.example.com/realms/office/broker/heliograph',
    toRedirectUri: (text) => {
      const address = trimEnd(text)
      return address.endsWith('/endpoint') ? address : `${address}/endpoint`
    },
  },
  steps: (facts) => [
    {
      title: 'Add an identity provider',
      text: 'In the realm open Identity providers, choose "OpenID Connect v1.0", enter the alias that you chose, and the discovery endpoint. Keycloak fills in the rest.',
      values: [{ label: 'Discovery endpoint', value: endpointsOf(facts.application).discovery }],
    },
    {
      title: 'Enter the client',
      text: 'For "Client authentication" choose "Client secret sent in the request header".',
      values: credentials(facts, 'Client ID', 'Client Secret'),
    },
    {
      title: 'Pass on who signs in',
      text: 'Under Advanced switch on "Pass login_hint" and "Use PKCE" (S256). Switch on "Trust Email", so that Keycloak links people by their address without asking them to confirm it.',
    },
    {
      title: 'Send people here',
      text: 'In the browser flow of the realm set "Identity Provider Redirector" to the alias as the default provider, or bind such a flow to one client first.',
    },
  ],
  comesBack:
    'An ID token with email, name, acr, and device_id and device_auth_state, which mappers can put into the tokens of the realm.',
}

/** authentik, an OAuth source within a flow. */
export const authentik: Guide = {
  id: 'authentik',
  name: 'authentik',
  lead: 'A Source stage of a flow sends people here after the password, and goes on with the result.',
  before: 'Needs the Source stage (authentik Enterprise). Choose a slug for the source now.',
  kind: 'oidc',
  mode: 'step_up',
  redirect: {
    label: 'Callback URL of the source',
    help: 'The address of authentik, then /source/oauth/callback/, then the slug and a slash.',
    placeholder: 'https://authentik.example.com/source/oauth/callback/heliograph/',
    toRedirectUri: (text) => `${trimEnd(text)}/`,
  },
  steps: (facts) => [
    {
      title: 'Create an OAuth source',
      text: 'Open Directory > Federation and Social login and create an "OpenID OAuth Source" with the slug that you chose. Enter the well-known URL; authentik fills in the rest.',
      values: [
        ...credentials(facts, 'Consumer key', 'Consumer secret'),
        { label: 'OIDC Well-known URL', value: endpointsOf(facts.application).discovery },
        { label: 'Scopes', value: 'openid email profile' },
      ],
    },
    {
      title: 'Give it flows of its own',
      text: 'Its authentication and enrollment flows must have no User Login stage: the flow that asks goes on by itself.',
    },
    {
      title: 'Put it into the flow',
      text: 'In the authentication flow add a Source stage with this source, after the password. Bind a policy to it that names one group first.',
    },
  ],
  comesBack: 'An ID token with email, preferred_username, acr and device_auth_state.',
}

/** Cloudflare Access, generic OIDC. */
export const cloudflare: Guide = {
  id: 'cloudflare',
  name: 'Cloudflare Access',
  lead: 'Access sends people here as its login method.',
  before:
    'Access does not say who signs in, so an upstream provider must: set it up first, with the provider that Access uses today.',
  kind: 'oidc',
  mode: 'broker',
  redirect: {
    label: 'Team domain',
    help: 'In Zero Trust under Settings > Custom pages.',
    placeholder: 'example.cloudflareaccess.com',
    toRedirectUri: (text) => `${toOrigin(text)}/cdn-cgi/access/callback`,
  },
  steps: (facts) => {
    const { authorize, token, jwks } = endpointsOf(facts.application)
    return [
      {
        title: 'Add a login method',
        text: 'In Zero Trust open Settings > Authentication, choose "Add new" under Login methods, then "OpenID Connect".',
        values: [
          ...credentials(facts, 'App ID', 'Client secret'),
          { label: 'Auth URL', value: authorize },
          { label: 'Token URL', value: token },
          { label: 'Certificate URL', value: jwks },
        ],
      },
      {
        title: 'Switch on PKCE and name the claims',
        text: 'Switch on "Proof Key for Code Exchange". Add the claims below as OIDC claims, so that policies of Access can look at them.',
        values: [
          { label: 'OIDC claim', value: 'acr' },
          { label: 'OIDC claim', value: 'device_auth_state' },
        ],
      },
      {
        title: 'Let an application of Access use it',
        text: 'Choose this login method for one application of Access first.',
      },
    ]
  },
  comesBack: 'An ID token with email, name, acr, and device_auth_state.',
}

/** Any client of OpenID Connect. */
export const oidc: Guide = {
  id: 'oidc',
  name: 'Any OpenID Connect client',
  lead: 'An application, a proxy such as Pomerium or oauth2-proxy, or another identity provider.',
  before:
    'Choose who says who signs in: the application (it sends login_hint), or an upstream provider.',
  kind: 'oidc',
  mode: 'step_up',
  redirect: {
    label: 'Redirect URI',
    help: 'Where the application takes the answer. It is compared letter for letter.',
    placeholder: 'https://wiki.example.com/callback',
    toRedirectUri: (text) => text.trim(),
  },
  steps: (facts) => {
    const { discovery } = endpointsOf(facts.application)
    return [
      {
        title: 'Enter the issuer and the client',
        text: 'Most clients read everything else from the discovery document below the issuer.',
        values: [
          { label: 'Issuer', value: facts.application.issuer },
          { label: 'Discovery document', value: discovery },
          ...credentials(facts, 'Client ID', 'Client secret'),
          { label: 'Scopes', value: 'openid email profile' },
        ],
      },
      {
        title: 'Ask with a code and PKCE',
        text: 'The flow is the authorization code (response_type=code). PKCE with S256 is needed by clients without a secret, and good for all others.',
      },
      ...(facts.application.mode === 'step_up'
        ? [
            {
              title: 'Say who signs in',
              text: 'Send the e-mail address of the person as login_hint, or an ID token of this service as id_token_hint. Push the request (PAR) or sign it where people are not provisioned before: a hint in the address bar can be anybody’s.',
            },
          ]
        : []),
    ]
  },
  comesBack:
    'An ID token with sub, acr (urn:heliograph:device:live, hardware, key or approved), device_id, device_auth_state and device_will_block_at; with the scopes email and profile also email, name and preferred_username.',
}
