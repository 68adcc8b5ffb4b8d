import type { Markup } from '../kit/markup.ts'

const frame = {
  skip: 'Skip to the page',
  more: 'More',
  copy: 'Copy',
  copied: 'Copied',
  privacyCentre: 'Privacy centre',
  myDevices: 'My devices',
  back: 'Back',
}

const failure = {
  title: 'That did not work',
  notFound: 'There is nothing at this address.',
  notFoundMore: 'It may have ended, or the link was cut short on its way to you.',
  unavailable: 'The service cannot answer at the moment.',
  unavailableMore: 'Nothing is lost. Try again in a moment.',
  refused: 'This cannot be done.',
  foreign: 'This was sent by a page of another site, so nothing was done.',
  tryAgain: 'Try again',
  reference: (id: string) => `If you ask for help, name this number: ${id}`,
}

const privacy = {
  sentence: 'This is everything that your devices are asked.',
  more: 'Checks read settings of a device to see whether it is safe to sign in from. Each of them is listed here, with the very question that it asks.',
  toMyData: 'See what is known of my devices',
  neverTitle: 'What no check reads',
  never: [
    'what is in your documents, messages and mail',
    'which pages you visit, and what you type',
    'your passwords, and the recovery keys of your disk',
    'your camera, your microphone and where you are',
    'what your screen shows',
  ],
  liveQueries:
    'Admins can ask further questions of devices. Each one that touched a device of yours is listed under “my data”, word for word.',
  keptTitle: 'How long it is kept',
  keptAnswers: 'Last answers',
  keptChanges: 'Changes of answers',
  keptIssues: 'Resolved issues',
  keptSignIns: 'Sign-ins',
  asLongAsDevice: 'as long as the device is known here',
  days: (count: number) =>
    count === 0 ? 'without an end' : count === 1 ? '1 day' : `${count} days`,
  checksTitle: (count: number) => (count === 1 ? 'The one check' : `The ${count} checks`),
  allChecks: 'All checks',
  askedTitle: 'What it asks',
  askedMore: 'The question is SQL for osquery, a program that only reads.',
  askedElsewhere: 'Another system answers this check; your device is not asked.',
  askedNothing: 'Your device is not asked.',
  exampleTitle: 'What an answer may look like',
  consequence: {
    block_immediately:
      'A device that fails this check cannot be used to sign in until it is fixed.',
    warn_then_block:
      'A device that fails this check is given some days; after them it cannot be used to sign in until it is fixed.',
    notify_only: 'A device that fails this check can go on being used; its owner is told.',
    report_only: 'Nothing follows from this check; its answers are only reported.',
  },
}

/** Everything that the pages say in English; the other catalogues have the same members. */
export const en = { ...frame, failure, privacy }

export type Texts = typeof en

/** A text that times or other pieces are put into. */
export type TextWith = (piece: Markup) => Markup
