/* The drawings of the pages: states are told by shape and word, never by colour alone. */
import { html, type Markup } from './markup.ts'

export type PictureName =
  | 'check'
  | 'info'
  | 'hourglass'
  | 'barred'
  | 'circle'
  | 'bell'
  | 'laptop'
  | 'phone'
  | 'shield'
  | 'person'

const PATHS: Readonly<Record<PictureName, string>> = {
  check: 'M20 6 9 17l-5-5',
  info: 'M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18ZM12 11v5M12 8v.01',
  hourglass: 'M6 3h12M6 21h12M7 3v3a5 5 0 0 0 10 0V3M7 21v-3a5 5 0 0 1 10 0v3',
  barred: 'M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18ZM5.7 5.7l12.6 12.6',
  circle: 'M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18Z',
  bell: 'M6 9a6 6 0 0 1 12 0c0 6 2 7 2 7H4s2-1 2-7M10 20a2 2 0 0 0 4 0',
  laptop: 'M5 5h14v11H5zM2 20h20',
  phone: 'M8 2h8a1 1 0 0 1 1 1v18a1 1 0 0 1-1 1H8a1 1 0 0 1-1-1V3a1 1 0 0 1 1-1ZM11 18.5h2',
  shield: 'M12 3 4 6v6c0 5 3.5 8 8 9 4.5-1 8-4 8-9V6Z',
  person: 'M12 4a4 4 0 1 0 0 8 4 4 0 0 0 0-8ZM4 21a8 8 0 0 1 16 0',
}

/** A drawing in the colour of the text around it; whoever cannot see it misses nothing. */
export function picture(name: PictureName): Markup {
  return html`<svg
    viewBox="0 0 24 24"
    fill="none"
    stroke="currentColor"
    stroke-width="2"
    stroke-linecap="round"
    stroke-linejoin="round"
    aria-hidden="true"
    focusable="false"
  >
    <path d=${PATHS[name]} />
  </svg>`
}

/** The mark of the service, where the organisation has none of its own. */
export function ownMark(): Markup {
  return html`<svg viewBox="0 0 32 32" aria-hidden="true" focusable="false">
    <rect width="32" height="32" rx="8" fill="#14202b" />
    <circle cx="13" cy="19" r="7" fill="#ffc24b" />
    <path
      d="M18.6 13.4 26 6M20.6 18H28M14 11.4V4"
      stroke="#ffc24b"
      stroke-width="2.4"
      stroke-linecap="round"
    />
  </svg>`
}
