/* The drawing of a chart by uPlot, in the colours of the theme. Loaded with the first chart. */
import './chart-language.ts'
import { useComputedColorScheme } from '@mantine/core'
import { useElementSize, useMergedRef } from '@mantine/hooks'
import { useEffect, useRef, useState } from 'react'
import UPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'
import type { ChartPoint, ChartProps, ChartSeries } from './chart.tsx'
import classes from './chart.module.css'
import { formatCount } from './figures.ts'
import { readTextScale } from './text-scale.ts'
import { formatExact } from './time.tsx'

/** A longer time span is labelled by days, a shorter one by hours. */
const CLOCK_SPAN_S = 2 * 86_400
const HOUR_S = 3_600
const X_STEPS_S = [1, 2, 3, 6, 12, 24, 48, 96, 168, 336, 672].map((hours) => hours * HOUR_S)
const clock = new Intl.DateTimeFormat('en', {
  hour: '2-digit',
  minute: '2-digit',
  hourCycle: 'h23',
})
const day = new Intl.DateTimeFormat('en', { day: 'numeric', month: 'short' })

/** What lies under the pointer. */
interface Pointed {
  readonly index: number
  /** From the left of the chart, in px. */
  readonly left: number
}

export function ChartView({ name, series, points, from, to, height: usualHeight }: ChartProps) {
  const height = usualHeight * readTextScale()
  const { ref: measure, width } = useElementSize<HTMLDivElement>()
  const frame = useRef<HTMLDivElement>(null)
  const ref = useMergedRef(measure, frame)
  const plot = useRef<UPlot | null>(null)
  const scheme = useComputedColorScheme()
  const [pointed, setPointed] = useState<Pointed | null>(null)
  const hasWidth = width > 0
  useEffect(() => {
    const target = frame.current
    if (target === null || !hasWidth) return
    const drawn = new UPlot(
      optionsOf(target, { series, from, to, height, onPoint: setPointed }),
      stack(points, series.length),
      target,
    )
    plot.current = drawn
    return () => {
      drawn.destroy()
      plot.current = null
    }
  }, [hasWidth, scheme, series, points, from, to, height])
  useEffect(() => {
    if (hasWidth) plot.current?.setSize({ width, height })
  }, [hasWidth, width, height, scheme, series, points, from, to])
  return (
    <div
      ref={ref}
      className={classes.view}
      style={{ height }}
      role="img"
      aria-label={`${name}. ${describe(series, points.at(-1))}`}
    >
      <Tip series={series} pointed={pointed} points={points} width={width} />
    </div>
  )
}

interface TipProps {
  readonly series: readonly ChartSeries[]
  readonly points: readonly ChartPoint[]
  readonly pointed: Pointed | null
  readonly width: number
}

function Tip({ series, points, pointed, width }: TipProps) {
  const point = pointed === null ? undefined : points[pointed.index]
  if (pointed === null || point === undefined) return null
  const isRight = pointed.left > width / 2
  const place = isRight ? { right: width - pointed.left } : { left: pointed.left }
  return (
    <div className={classes.tip} style={place}>
      <p>{formatExact(point.at)}</p>
      {series
        .map((each, index) => ({ ...each, value: point.values[index] ?? 0 }))
        .toReversed()
        .map(({ id, label, tone, value }) => (
          <div key={id}>
            <span className={classes.swatch} data-tone={tone} />
            {label}
            <b>{formatCount(value)}</b>
          </div>
        ))}
    </div>
  )
}

function describe(series: readonly ChartSeries[], last: ChartPoint | undefined): string {
  if (last === undefined) return ''
  return series.map(({ label }, index) => `${label}: ${last.values[index] ?? 0}`).join(', ')
}

/** Times in seconds, and for each series what it and those below it add up to. */
function stack(points: readonly ChartPoint[], layers: number): UPlot.AlignedData {
  const times = points.map(({ at }) => Date.parse(at) / 1000)
  const sums = Array.from({ length: layers }, (_, layer) =>
    points.map(({ values }) => values.slice(0, layer + 1).reduce((sum, value) => sum + value, 0)),
  )
  return [times, ...sums]
}

interface DrawingOptions {
  readonly series: readonly ChartSeries[]
  readonly from: string
  readonly to: string
  readonly height: number
  readonly onPoint: (pointed: Pointed | null) => void
}

function optionsOf(
  target: HTMLElement,
  { series, from, to, height, onPoint }: DrawingOptions,
): UPlot.Options {
  const span: [number, number] = [Date.parse(from) / 1000, Date.parse(to) / 1000]
  const format = span[1] - span[0] > CLOCK_SPAN_S ? day : clock
  const style = getComputedStyle(target)
  const colour = (token: string) => style.getPropertyValue(`--helio-${token}`).trim()
  const scale = readTextScale()
  const stepped = UPlot.paths.stepped?.({ align: 1 })
  const axis: UPlot.Axis = {
    stroke: colour('quiet'),
    grid: { stroke: colour('line'), width: 1 },
    ticks: { show: false },
    font: `${12 * scale}px ${style.fontFamily}`,
  }
  return {
    width: target.clientWidth,
    height,
    padding: [10 * scale, 24 * scale, 0, 0],
    legend: { show: false },
    cursor: { drag: { x: false, y: false }, y: false, points: { size: 6 } },
    scales: {
      x: { range: () => span },
      y: { range: (_, _min, max) => [0, Math.max(max * 1.06, 4)] },
    },
    axes: [
      {
        ...axis,
        grid: { show: false },
        size: 30 * scale,
        space: 76 * scale,
        incrs: X_STEPS_S,
        values: (_, times) => times.map((time) => format.format(time * 1000)),
      },
      {
        ...axis,
        size: 46 * scale,
        incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 1e4, 2e4, 5e4],
      },
    ],
    series: [
      {},
      ...series.map(({ tone, label }) => ({
        label,
        stroke: colour(tone),
        width: 1.5,
        fill: colour(`${tone}-soft`),
        points: { show: false },
        ...(stepped === undefined ? {} : { paths: stepped }),
      })),
    ],
    bands: series.slice(1).map((_, index) => ({ series: [index + 2, index + 1] })),
    hooks: {
      setCursor: [
        ({ cursor: { idx, left = -1 }, bbox }) =>
          onPoint(
            idx === null || idx === undefined || left < 0
              ? null
              : { index: idx, left: left + bbox.left / devicePixelRatio },
          ),
      ],
    },
  }
}
