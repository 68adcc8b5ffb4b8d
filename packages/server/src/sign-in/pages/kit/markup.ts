/*
 * How pages are written: HTML in tagged templates. Every value that is put in is text, in elements and in
 * attributes alike; nothing of the kit inserts HTML that came as a text.
 */
import { createRequire } from 'node:module'

// Required and not imported: their types bring those of browsers, which contradict those of Node.js.
const require = createRequire(import.meta.url)
const htm = require('htm') as { bind(element: unknown): typeof html }
const { h } = require('preact') as { readonly h: (...parts: unknown[]) => Markup }
const { render } = require('preact-render-to-string') as {
  readonly render: (page: Markup) => string
}

/** A piece of a page: an element, a text, nothing, or several of these. */
export type Markup = object | string | number | boolean | null | undefined | readonly Markup[]

/** A piece of a page from a template; values are escaped where they stand. */
export const html: (strings: TemplateStringsArray, ...values: unknown[]) => Markup = htm.bind(h)

/** The HTML of a page, with its document type. */
export function renderDocument(page: Markup): string {
  return `<!doctype html>${render(page)}`
}

/** Whether a link may lead there: to a page, a letter, or the settings of the operating system; never to a script. */
export function isSafeAddress(address: string): boolean {
  return SAFE_ADDRESS.test(address)
}

const SAFE_ADDRESS =
  /^(?:https?:\/\/|mailto:|x-apple\.systempreferences:|ms-settings:|windowsdefender:)[^\s<>"'`]+$/i
