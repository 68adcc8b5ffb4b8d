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

/** Everything that the pages say in English; the other catalogues have the same members. */
export const en = { ...frame, failure }

export type Texts = typeof en

/** A text that times or other pieces are put into. */
export type TextWith = (piece: Markup) => Markup
