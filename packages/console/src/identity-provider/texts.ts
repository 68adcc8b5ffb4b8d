/* The texts of the identity provider of the organisation. */
const admins = (count: number) => (count === 1 ? '1 admin' : `${count} admins`)

export const texts = {
  title: 'Identity provider',
  lead: 'An OpenID Connect provider by which admins sign in here, beside passkeys and passwords.',
  settings: 'Settings',
  atProvider: 'At the provider',
  atProviderLead:
    'Register Heliograph there as a web application (authorization code, with a client secret), with this redirect URI exactly as it stands.',
  redirectUri: 'Redirect URI',
  provider: 'Provider',
  name: 'Name',
  nameHelp: 'What the button of the sign-in page says, after "Sign in by".',
  issuer: 'Issuer',
  issuerHelp: 'As it stands in the document at /.well-known/openid-configuration below it.',
  clientId: 'Client ID',
  secret: 'Client secret',
  secretHelp: 'Stored sealed, and never shown again.',
  secretKept: 'One is stored, and never shown again. It stays when this is left empty.',
  secretNeeded: 'Needed: the stored one is good for its own issuer and client alone.',
  check: 'Check',
  checkHelp: 'Asks the provider for its document and tries the secret. Nothing is saved.',
  fits: (signatures: string) =>
    `Everything fits, as far as it can be known before somebody signs in. ID tokens signed by ${signatures} are taken.`,
  fitsWithoutSecret: 'The issuer fits. The secret was not tried: enter it to try it.',
  groups: 'Access by groups',
  groupsLead:
    'The groups in which the provider has somebody decide at every sign-in. Restrictions stay those of the admin.',
  claim: 'Group claim',
  claimHelp:
    'The claim of the ID token that names the groups, such as "groups". Empty: groups decide nothing, and everybody keeps the access that was given here.',
  fullGroups: 'Groups with Full Access',
  limitedGroups: 'Groups with limited access',
  oneALine: 'One a line. Who is in none of all these groups cannot sign in by the provider.',
  noGroups: 'No group is named: nobody can sign in by the provider.',
  setUp: 'Set up',
  save: 'Save changes',
  saved: 'The identity provider was saved',
  issuerTitle: 'Change the issuer?',
  issuerLabel: 'Change issuer',
  issuerChanges: (issuer: string, bound: number, alone: number) =>
    `${admins(bound)} connected to ${issuer}, ${alone} without another way to sign in. The new issuer knows none of them: they cannot sign in by it before they connect it under their account, or follow a new one-time link. They stay bound to the old one, for the case that it comes back.`,
  state: 'Signing in by it',
  isOn: (bound: number, alone: number) =>
    `On. ${admins(bound)} connected, ${alone} without another way to sign in.`,
  isOff: (bound: number) => `Off: nobody signs in by it. ${admins(bound)} connected.`,
  switchOn: 'Switch on',
  switchOff: 'Switch off',
  switchedOn: 'Admins can sign in by the identity provider',
  switchedOff: 'Nobody signs in by the identity provider any more',
  offTitle: (name: string) => `Switch off signing in by ${name}?`,
  offHelp: (alone: number) =>
    `Nobody signs in or proves themselves by it until it is switched on again. ${admins(alone)} without another way to sign in. Sessions that are open stay open.`,
  remove: 'Remove',
  removeTitle: (name: string) => `Remove ${name}?`,
  removeLabel: 'Remove provider',
  removeHelp: (alone: number) =>
    `Nobody signs in by it any more, and its secret is forgotten. ${admins(alone)} without another way to sign in. Admins stay bound to their accounts there, for the case that it is set up again. Sessions that are open stay open.`,
  removed: 'The identity provider was removed',
} as const
