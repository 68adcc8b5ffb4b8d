import { rowsOf, type ScreenSize } from './render-demo.ts'
import { toText, type Line } from './styled-text.ts'

/** A terminal that is drawn on as a whole. */
export interface TerminalScreen {
  readonly size: ScreenSize
  draw(lines: readonly Line[]): void
  /** Gives the terminal back as it was. Safe to call twice. */
  close(): void
}

const OPEN = '\u001b[?1049h\u001b[?25l'
const CLOSE = '\u001b[?25h\u001b[?1049l'
const HOME = '\u001b[H'
const CLEAR_LINE_END = '\u001b[K'
const CLEAR_SCREEN_END = '\u001b[J'
const FALLBACK_SIZE: ScreenSize = { columns: 80, rows: 24 }

/**
 * Takes over the terminal: its other screen, so that what stood there comes back, and no cursor.
 *
 * @param onResize called when the terminal has another size
 */
export function openTerminalScreen(
  output: NodeJS.WriteStream,
  isColoured: boolean,
  onResize: () => void,
): TerminalScreen {
  let isOpen = true
  const close = () => {
    if (!isOpen) return
    isOpen = false
    output.off('resize', onResize)
    process.off('exit', close)
    output.write(CLOSE)
  }
  const readSize = (): ScreenSize => ({
    columns: output.columns > 0 ? output.columns : FALLBACK_SIZE.columns,
    rows: output.rows > 0 ? output.rows : FALLBACK_SIZE.rows,
  })
  output.write(OPEN)
  output.on('resize', onResize)
  // A process that is forced to end must not leave a terminal without a cursor.
  process.once('exit', close)
  return {
    get size() {
      return readSize()
    },
    draw(lines) {
      if (isOpen) output.write(toFrame(lines, readSize(), isColoured))
    },
    close,
  }
}

/** One write per frame, each row overwritten in place: nothing flickers. */
export function toFrame(lines: readonly Line[], size: ScreenSize, isColoured: boolean): string {
  let frame = HOME
  let row = 0
  for (const line of lines) {
    row += rowsOf(line, size.columns)
    if (row > size.rows) break
    // At the right edge the cursor still stands on the last character, which must stay.
    const text = toText(line, isColoured)
    const seen = [...toText(line, false)].length
    const isAtEdge = seen > 0 && seen % size.columns === 0
    frame += isAtEdge ? text : text + CLEAR_LINE_END
    if (row < size.rows) frame += '\r\n'
  }
  return row < size.rows ? frame + CLEAR_SCREEN_END : frame
}
