/* The texts of the inbox of requests. */
export const texts = {
  title: 'Requests',
  kinds: {
    exemption: 'Exemptions',
    registration: 'Registrations',
    reenrollment: 'Re-enrollments',
    sign_in: 'Sign-ins',
  },
  kind: 'Kind',
  waiting: 'Waiting',
  all: 'All',
  which: 'Which requests',
  requester: 'From',
  device: 'Device',
  message: 'What they say',
  state: 'State',
  asked: 'Asked',
  expires: 'Ends',
  issues: 'Issues',
  machine: 'Machine',
  reason: 'Why it waits',
  address: 'Asks from',
  none: 'Nothing waits here',
  noneHelp: {
    exemption: 'Owners ask for exemptions on the page that tells them what their device fails.',
    registration:
      'People ask to register a device that is not theirs yet when they first sign in with it.',
    reenrollment:
      'A machine waits here when it claims the place of a device that is known already.',
  },
  states: {
    open: 'Waiting',
    pending: 'Waiting',
    approved: 'Approved',
    denied: 'Denied',
    withdrawn: 'Withdrawn',
    completed: 'Completed',
  },
  reasons: {
    live_node_key: 'The device is still in contact',
    known_hardware: 'Another device has this hardware',
    other_owner: 'Its enrollment secret belongs to somebody else',
  },
  chosen: (count: number) => `${count} chosen`,
  approve: 'Approve',
  deny: 'Deny',
  clear: 'Choose none',
  approveTitle: (count: number) =>
    count === 1 ? 'Approve the request?' : `Approve ${count} requests?`,
  denyTitle: (count: number) => (count === 1 ? 'Deny the request?' : `Deny ${count} requests?`),
  approveHelp: {
    exemption: 'The issues stop counting at once; the status of the device follows.',
    registration: 'The device is registered to the person who asked.',
    reenrollment:
      'Each machine may enroll once within 24 hours, from the same address. The node key of the device it replaces ends with that.',
  },
  denyHelp: {
    exemption: 'The issues go on counting. The person reads your explanation.',
    registration: 'The device stays as it is. The person reads your explanation.',
    reenrollment: 'The machine stays out until it is approved.',
  },
  internal: 'Reason, for admins',
  explanation: 'Explanation, for the person',
  expiresAt: 'Exemption ends',
  expiresHelp: 'Without a date it holds until somebody ends it.',
  future: 'Also covers later issues of these checks on the device',
  mayNot: 'Your access does not let you decide requests.',
  decided: (done: number, verb: string) =>
    `${done === 0 ? 'No request is' : done === 1 ? 'The request is' : `${done} requests are`} ${verb}.`,
  approved: 'approved',
  denied: 'denied',
  someFailed: (failed: number, all: number) => `${failed} of ${all} could not be decided`,
  details: 'Request',
  decidedBy: 'Decided',
  internalNote: 'For admins',
  personNote: 'For the person',
  close: 'Close',
  never: 'Never',
  noMessage: '–',
  signIns: {
    lead: 'People who wait before their screen right now, for ten minutes at most.',
    person: 'Person',
    what: 'What is asked',
    kinds: { registration: 'Register the device', sign_in: 'Let in without a proof of the device' },
    application: 'Application',
    ownPages: 'Own pages',
    code: 'Code',
    ends: 'Waits until',
    noneHelp:
      'A sign-in waits here when the policy has an admin approve a new device, or one that could not be proven.',
    notForAdmins: 'The policy has the person confirm this from another device.',
    decide: (isApproved: boolean, email: string) =>
      `${isApproved ? 'Approve' : 'Deny'} the sign-in of ${email}`,
    title: (isApproved: boolean, email: string) =>
      `${isApproved ? 'Approve' : 'Deny'} the sign-in of ${email}?`,
    approveHelp:
      'The sign-in goes on at once, on the word of whoever asks you. Do not approve what you have not been asked for by somebody you know.',
    compare: 'The page of the sign-in shows this code; let the person read it to you:',
    denyHelp: 'The sign-in ends, and the person reads that it was denied.',
    decided: (isApproved: boolean) =>
      isApproved ? 'The sign-in goes on.' : 'The sign-in has ended.',
  },
} as const
