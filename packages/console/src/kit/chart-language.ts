/*
 * uPlot formats numbers in the language of the browser from the moment it is loaded. What is no language, such as the
 * `en-US@posix` of a machine without a locale, would throw then and take the page with it.
 */
try {
  Intl.getCanonicalLocales(navigator.language)
} catch {
  Object.defineProperty(navigator, 'language', { value: 'en', configurable: true })
}

export {}
