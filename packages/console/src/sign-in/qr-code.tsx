/* A QR code as one path of squares. */
import { encode } from 'uqr'
import classes from './qr-code.module.css'

interface QrCodeProps {
  readonly value: string
  /** What it is, for those who cannot see it. */
  readonly label: string
}

/** The quiet zone that ISO/IEC 18004 asks for. */
const BORDER = 4

export function QrCode({ value, label }: QrCodeProps) {
  const { data, size } = encode(value, { border: BORDER, ecc: 'L' })
  return (
    <svg
      viewBox={`0 0 ${size} ${size}`}
      className={classes.code}
      role="img"
      aria-label={label}
      shapeRendering="crispEdges"
    >
      <path d={data.flatMap(toSquares).join('')} />
    </svg>
  )
}

function toSquares(row: readonly boolean[], y: number): string[] {
  return row.flatMap((isDark, x) => (isDark ? [`M${x} ${y}h1v1h-1z`] : []))
}
