import { credentials, endpointsOf, toOrigin, type Guide } from './guide.ts'

/** Okta's IdP authenticator, OpenID Connect. */
export const okta: Guide = {
  id: 'okta',
  name: 'Okta',
  lead: 'Okta asks for the password or passkey, then sends people here for their device.',
  before:
    'Needs the IdP authenticator of Okta (multifactor authentication). Signing in happens in a browser: clients of RDP, ADFS or RADIUS are not sent here.',
  kind: 'oidc',
  mode: 'step_up',
  values: { claims_profile: 'okta', token_endpoint_auth_method: 'client_secret_post' },
  redirect: {
    label: 'Address of your Okta organisation',
    help: 'As in the address bar after signing in to Okta, without "-admin".',
    placeholder: 'example.okta.com',
    toRedirectUri: (text) => `${toOrigin(text)}/oauth2/v1/authorize/callback`,
  },
  steps: (facts) => {
    const { application } = facts
    const { authorize, token, jwks, userinfo } = endpointsOf(application)
    return [
      {
        title: 'Add an identity provider',
        text: 'In the Okta admin console open Security > Identity Providers, choose "Add identity provider", then "OpenID Connect IdP". Give it a name that people understand, such as "Device check". For "IdP Usage" choose "Factor only": Okta then uses it beside the password and makes no accounts from it.',
      },
      {
        title: 'Enter the client and the endpoints',
        text: 'Keep the scopes openid, email and profile. Leave "Enable automatic linking" and just-in-time provisioning off.',
        values: [
          ...credentials(facts, 'Client ID', 'Client secret'),
          { label: 'Issuer', value: application.issuer },
          { label: 'Authorization endpoint', value: authorize },
          { label: 'Token endpoint', value: token },
          { label: 'JWKS endpoint', value: jwks },
          { label: 'Userinfo endpoint', value: userinfo },
        ],
      },
      {
        title: 'Compare the redirect URI',
        text: 'Okta shows its redirect URI on the page of the new identity provider. It must be this one, letter for letter. If it is another, such as that of a custom domain, add it under Settings here.',
        values: application.redirect_uris.map((value) => ({ label: 'Redirect URI', value })),
      },
      {
        title: 'Match people',
        text: 'Let the claim below be the IdP username, and match it against the Okta username. Okta refuses an answer that names another login than its own.',
        values: [{ label: 'Claim', value: 'preferred_username' }],
      },
      {
        title: 'Make it an authenticator and ask for it',
        text: 'Open Security > Authenticators, add "IdP Authenticator" and choose the identity provider. Then ask for it in the authentication policy of one application, for one group of people, before it is asked of everybody. Keep a rule for a small group that does not need it: that is the way in when this service is out.',
      },
    ]
  },
  comesBack:
    'An ID token with sub and preferred_username equal to the login that Okta sent, acr with how the device was known, and device_context (managed, compliant).',
}
