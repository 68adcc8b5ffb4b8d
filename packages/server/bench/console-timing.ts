/* What is timed inside a page of the console: texts that the browser runs, since benchmarks know no types of it. */

const ROWS = "document.querySelector('[data-testid=rows]')"

/** Notes in `window.firstRowAtMs` when the first row with a link is shown, counted from the navigation. */
export const WATCH_FIRST_ROW = `
  new MutationObserver((_, observer) => {
    if (document.querySelector('[data-testid=rows] [data-index] a') === null) return
    observer.disconnect()
    requestAnimationFrame(() => { window.firstRowAtMs = performance.now() })
  }).observe(document, { childList: true, subtree: true })`

/** Types a search and resolves with the milliseconds until the frame that shows only rows which it found. */
export function timeUntilRows(search: string): string {
  return `new Promise((resolve, reject) => {
    const input = document.querySelector('[role=search] input')
    const setValue = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value').set
    const before = ${ROWS}.querySelector('[data-index] a')
    const textBefore = before?.textContent
    const word = ${JSON.stringify(/"(.*)"/.exec(search)?.[1] ?? '')}
    const startMs = performance.now()
    const isFound = () => {
      const names = [...document.querySelectorAll('[data-testid=rows] [data-index] > [role=cell]:first-of-type a')]
      return names.length > 0 && names.every(({ textContent }) => textContent.includes(word))
    }
    const observer = new MutationObserver(() => {
      if (!isFound()) return
      observer.disconnect()
      requestAnimationFrame(() => resolve(performance.now() - startMs))
    })
    observer.observe(document.body, { childList: true, subtree: true, characterData: true })
    setTimeout(() => reject(new Error('the search found nothing')), 10_000)
    setValue.call(input, ${JSON.stringify(search)})
    input.dispatchEvent(new Event('input', { bubbles: true }))
  })`
}

/** Scrolls on for so many seconds and counts the frames, and those in which a place on view had no row. */
export function countFrames(seconds: number): string {
  return `new Promise((resolve) => {
    const rows = ${ROWS}
    const startMs = performance.now()
    let frames = 0, blankFrames = 0
    const hasRowAt = (y) => {
      const { left, width } = rows.getBoundingClientRect()
      return document.elementFromPoint(left + width / 3, y)?.closest('[data-index]') != null
    }
    const look = () => {
      frames += 1
      const { top, bottom } = rows.getBoundingClientRect()
      const isAtEnd = rows.scrollTop + rows.clientHeight >= rows.scrollHeight - 1
      if (isAtEnd || ![0.15, 0.4, 0.65, 0.9].every((part) => hasRowAt(top + (bottom - top) * part))) blankFrames += 1
      rows.scrollTop += rows.clientHeight / 3
      const elapsed = (performance.now() - startMs) / 1000
      if (elapsed < ${String(seconds)}) return void requestAnimationFrame(look)
      resolve({ frames, blankFrames, seconds: elapsed, rows: Math.round(rows.scrollTop / 38) })
    }
    requestAnimationFrame(look)
  })`
}
