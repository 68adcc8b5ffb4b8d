/* The texts of the pages of people. */
export const texts = {
  title: 'People',
  name: 'Name',
  person: 'Person',
  personPlaceholder: 'Search by name or address',
  noPerson: 'Nobody of that name or address',
  email: 'Email',
  registered: 'Device',
  hasDevice: 'Registered',
  noDevice: 'None',
  lastSignIn: 'Last sign-in',
  created: 'Since',
  none: 'Nobody matches',
  noneHelp:
    'Change the search. People come by SCIM from your identity provider, and with the first enrollment or sign-in.',
  present: 'Present',
  deprovisioned: 'Deprovisioned',
  noneGone: 'Nobody has been deprovisioned',
  noneGoneHelp:
    'People whom the identity provider removes are listed here; their devices belong to nobody.',
  above: 'People',
  lead: (devices: string, issues: string) => `${devices}, ${issues}.`,
  devicesCount: (count: number) =>
    count === 0
      ? 'No registered device'
      : `${count} registered ${count === 1 ? 'device' : 'devices'}`,
  issuesCount: (count: number) =>
    count === 0 ? 'no open issue' : `${count} open ${count === 1 ? 'issue' : 'issues'}`,
  gone: 'Deprovisioned: may sign in nowhere, and owns no device.',
  devices: 'Registered devices',
  noDevices:
    'No device is registered to this person. One is registered when its owner signs in with it.',
  issues: 'Open issues',
  noIssues: 'No open issue on the devices of this person.',
  groups: 'Groups',
  noGroups: 'In no group. Groups come by SCIM.',
  facts: 'Facts',
  usernames: 'User names on devices',
  id: 'Id',
  signIns: 'Sign-ins',
  noSignIns: 'This person has not signed in yet.',
  browsers: 'Browsers',
  browsersLead: 'In which a device of this person was proven.',
  entra: 'Entra accounts',
  entraLead: 'By which Microsoft Entra ID names this person.',
  device: 'Device',
  state: 'Sign-in',
  system: 'System',
  lastSeen: 'Last seen',
  at: 'At',
  result: 'Result',
  from: 'From',
} as const
