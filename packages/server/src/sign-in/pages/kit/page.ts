/*
 * The frame of every page: what the organisation is called and looks like, the page itself, and what is always to be
 * had: the privacy centre and the other languages.
 */
import { LANGUAGE_NAMES, LANGUAGES, type Language } from '../texts/language.ts'
import { textsOf } from '../texts/texts.ts'
import { DEFAULT_BRAND_COLOUR } from './brand-colours.ts'
import { html, renderDocument, type Markup } from './markup.ts'
import type { AssetName, PageAssets } from './page-assets.ts'
import { ownMark } from './pictures.ts'

/** The name, the logo and the colour of an organisation. */
export interface PageBrand {
  readonly name: string
  /** Changes with the logo; null where there is none. */
  readonly logoVersion: string | null
  /** Six hexadecimal digits; null where none is set. */
  readonly colour: string | null
}

/** A page. */
export interface Page {
  readonly language: Language
  readonly brand: PageBrand
  /** What stands in the window's title before the name of the organisation. */
  readonly title: string
  readonly body: Markup
  /** Shows which device it is on, of itself or when its person asks for it. */
  readonly isProving?: boolean
  /** From where it hears that it has changed. */
  readonly liveFrom?: string
  /** Where it leads by itself after so many seconds, where no script runs. */
  readonly goesOn?: { readonly to: string; readonly afterSeconds: number }
}

/** The HTML of a page. */
export function renderPage(page: Page, assets: PageAssets): string {
  const { language, brand, title, body, liveFrom, goesOn, isProving = false } = page
  const texts = textsOf(language)
  const colour = brand.colour ?? DEFAULT_BRAND_COLOUR
  return renderDocument(
    html`<html lang=${language} data-live=${liveFrom} data-copied=${texts.copied}>
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <meta name="robots" content="noindex" />
        <title>${`${title} · ${brand.name}`}</title>
        <link rel="icon" href=${PAGE_PATHS.icon} type="image/svg+xml" />
        <link rel="stylesheet" href=${`${PAGE_PATHS.assets}/${assets.nameOf('pages.css')}`} />
        <link rel="stylesheet" href=${`${PAGE_PATHS.colours}/${colour}.css`} />
        ${showScript('pages.js', assets)} ${isProving && showScript('proof.js', assets)}
        ${goesOn && html`<noscript><meta http-equiv="refresh" content=${`${goesOn.afterSeconds};url=${goesOn.to}`} /></noscript>`}
      </head>
      <body>
        <a class="skip" href="#main">${texts.skip}</a>
        <header class="head">${showBrand(brand)}</header>
        <main id="main" class="wide" tabindex="-1">${body}</main>
        ${showFoot(language)}
      </body>
    </html>`,
  )
}

function showScript(name: AssetName, assets: PageAssets): Markup {
  return html`<script type="module" src=${`${PAGE_PATHS.assets}/${assets.nameOf(name)}`}></script>`
}

/** Where the pages find what belongs to all of them. */
export const PAGE_PATHS = {
  assets: '/sign-in/assets',
  colours: '/sign-in/assets/colours',
  logo: '/sign-in/assets/logo',
  icon: '/sign-in/assets/heliograph.svg',
  privacy: '/sign-in/privacy',
  own: '/sign-in/me',
} as const

function showBrand({ name, logoVersion }: PageBrand): Markup {
  const logo =
    logoVersion === null
      ? ownMark()
      : html`<img src=${`${PAGE_PATHS.logo}?version=${logoVersion}`} alt="" height="32" />`
  return html`<p class="brand">${logo}<span>${name}</span></p>`
}

function showFoot(language: Language): Markup {
  const texts = textsOf(language)
  const others = LANGUAGES.map((each) =>
    each === language
      ? html`<li><span aria-current="true">${LANGUAGE_NAMES[each]}</span></li>`
      : html`<li>
          <a href=${`?language=${each}`} lang=${each} hreflang=${each}>${LANGUAGE_NAMES[each]}</a>
        </li>`,
  )
  return html`<footer class="foot">
    <nav aria-label=${texts.more}>
      <ul>
        <li><a href=${PAGE_PATHS.privacy}>${texts.privacyCentre}</a></li>
        <li><a href=${PAGE_PATHS.own}>${texts.myDevices}</a></li>
        ${others}
      </ul>
    </nav>
  </footer>`
}
