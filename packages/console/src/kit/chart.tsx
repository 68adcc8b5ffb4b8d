/*
 * Figures over time: a chart for the eye, and the same figures as a table for whoever cannot see it or wants
 * them exactly. The drawing itself comes when it is shown.
 */
import { rem, SegmentedControl, Skeleton, Table } from '@mantine/core'
import { Suspense, useState } from 'react'
import classes from './chart.module.css'
import { formatCount } from './figures.ts'
import { lazyPart } from './lazy-part.tsx'
import { texts } from './texts.ts'
import { formatExact } from './time.tsx'
import type { Tone } from './tone.tsx'

const View = lazyPart(() => import('./chart-view.tsx'), 'ChartView')

/** A line, or a layer of a stack. */
export interface ChartSeries {
  readonly id: string
  readonly label: string
  readonly tone: Tone
}

export interface ChartPoint {
  /** ISO 8601. */
  readonly at: string
  /** One per series, in their order. */
  readonly values: readonly number[]
}

export interface ChartProps {
  /** What is shown, for those who cannot see it. */
  readonly name: string
  /** From the bottom to the top of a stack. */
  readonly series: readonly ChartSeries[]
  readonly points: readonly ChartPoint[]
  /** The time span, ISO 8601, also where there is no point yet. */
  readonly from: string
  readonly to: string
  /** In px at the usual text size. */
  readonly height: number
}

/** Layers that add up to a whole, over time. */
export function Chart(props: ChartProps) {
  const [form, setForm] = useState('chart')
  return (
    <div className={classes.chart}>
      <div className={classes.bar}>
        <ul className={classes.legend}>
          {props.series.toReversed().map(({ id, label, tone }) => (
            <li key={id}>
              <span className={classes.swatch} data-tone={tone} aria-hidden />
              {label}
            </li>
          ))}
        </ul>
        <SegmentedControl
          size="xs"
          value={form}
          onChange={setForm}
          aria-label={texts.chartForm}
          data={[
            { value: 'chart', label: texts.chart },
            { value: 'table', label: texts.table },
          ]}
        />
      </div>
      {form === 'table' ? (
        <FigureTable {...props} />
      ) : (
        <Suspense fallback={<Skeleton height={props.height} />}>
          <View {...props} />
        </Suspense>
      )}
    </div>
  )
}

function FigureTable({ name, series, points, height }: ChartProps) {
  return (
    <div className={classes.figures} style={{ maxHeight: rem(height) }} tabIndex={0} role="region">
      <Table stickyHeader verticalSpacing={4} fz={13} aria-label={name}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{texts.time}</Table.Th>
            {series.map(({ id, label }) => (
              <Table.Th key={id} ta="right">
                {label}
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {points.toReversed().map(({ at, values }) => (
            <Table.Tr key={at}>
              <Table.Td>{formatExact(at)}</Table.Td>
              {values.map((value, index) => (
                <Table.Td key={series[index]?.id} ta="right">
                  {formatCount(value)}
                </Table.Td>
              ))}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </div>
  )
}
