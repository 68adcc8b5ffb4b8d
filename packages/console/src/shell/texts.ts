/* The texts of the frame. */
export const texts = {
  product: 'Heliograph',
  notFound: 'There is no such page',
  notFoundHelp:
    'The address may be wrong, or what it named is gone. Press ⌘K or Ctrl K to look for it.',
  navigation: 'Main',
  openNavigation: 'Open the navigation',
  skip: 'Skip to the content',
  palette: 'Search or jump to …',
  paletteNothing: 'Nothing of that name.',
  goTo: 'Go to',
  actions: 'Actions',
  theme: 'Switch between day and night',
  signOut: 'Sign out',
  account: 'Your account',
  keys: 'Keyboard shortcuts',
  live: 'Live: the page moves by itself',
  liveBroken: 'The live connection is cut; it is tried again',
  livePaused: 'Connecting',
  sections: {
    now: 'Now',
    fleet: 'Fleet',
    policy: 'Policy',
    signals: 'Signals',
    system: 'System',
  },
} as const
