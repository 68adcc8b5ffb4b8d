/* The texts of the test of an application. */
export const testTexts = {
  tab: 'Test',
  recent: 'Sign in there now',
  recentLead:
    'Begin a sign-in at the other side, in a private window. It appears here within seconds, with what was wrong.',
  none: 'No sign-in has come from it yet',
  noneHelp:
    'When you have tried and nothing appears, the request was not taken: check its address below, or see that the other side has the right issuer.',
  nobody: 'Nobody yet',
  record: 'Record',
  stages: {
    person: 'Asks who',
    device: 'Asks for the device',
    registration: 'Registers',
    fallback: 'Waits',
    posture: 'Checks',
    blocked: 'Blocked',
    warned: 'Warned',
    done: 'Let in',
    refused: 'Refused',
    abandoned: 'Given up',
  },
  refused: 'Refused before they began',
  refusedLead:
    'Requests that never became a sign-in, by the field that was wrong. Those of a client ID that nobody has may be meant for this application as well.',
  noneRefused: 'None was refused.',
  times: (count: number) => (count === 1 ? 'once' : `${count} times`),
  check: 'Check a request',
  checkLead:
    'For a sign-in that stops before it begins: what was sent is compared with what is set up here. Nobody signs in, and nothing is kept.',
  url: 'Address to which the browser was sent',
  urlHelp: 'Copy it from the address bar of the browser where the sign-in stopped.',
  secret: 'Client secret, as it is entered there',
  secretHelp: 'Compared with the stored one. Leave it empty to check the address alone.',
  checkNow: 'Check request',
  findings: 'What was found',
  sum: (wrong: number) =>
    wrong === 0
      ? 'Everything that can be seen here fits.'
      : wrong === 1
        ? '1 field is wrong.'
        : `${wrong} fields are wrong.`,
  fits: 'Fits',
  wrong: 'Wrong',
  given: 'Sent',
  nothing: 'Nothing',
  expected: 'Expected',
  addRedirect: 'Add it to the redirect URIs',
  redirectAdded: 'The redirect URI was added. Check the request again.',
} as const
