export const texts = {
  title: 'Devices',
  name: 'Name',
  state: 'Sign-in',
  system: 'System',
  serial: 'Serial',
  lastSeen: 'Last seen',
  none: 'No device matches',
  noneHelp: 'Change the search, or enroll a device: Enrollment has packages and secrets.',
} as const
