/* A column of a table whose button ends a row, and the question before it does. */
import { Button } from '@mantine/core'
import type { QueryKey } from '@tanstack/react-query'
import { useState, type ReactNode } from 'react'
import { ConfirmDialog } from '../kit/confirm.tsx'
import { useNow } from '../kit/time.tsx'
import { useAction } from '../kit/use-action.ts'
import type { Column } from '../kit/use-columns.ts'
import { useMay } from '../shell/session.ts'
import { MANAGE_PERMISSION } from './gate-queries.ts'
import { texts } from './texts.ts'

interface Item {
  readonly id: string
}

interface RowEndingOptions<Row> {
  readonly words: {
    readonly end: string
    readonly endOf: (name: string) => string
    readonly endTitle: (name: string) => string
    readonly endLabel: string
    readonly endHelp: string
    readonly ended: string
  }
  /** Tells a row from all others, in words. */
  readonly nameOf: (row: Row) => string
  /** Whether a row has ended already, at a moment in milliseconds: it has no button. */
  readonly isOver: (row: Row, now: number) => boolean
  readonly run: (id: string) => Promise<unknown>
  /** The beginnings of the keys of what has changed by it. */
  readonly changes: readonly QueryKey[]
}

/** The column and the dialog, which stands anywhere on the page. */
export function useRowEnding<Row extends Item>(
  options: RowEndingOptions<Row>,
): { readonly column: Column<Row>; readonly dialog: ReactNode } {
  const { words, nameOf, run, changes } = options
  const [ending, setEnding] = useState<Row>()
  const close = () => setEnding(undefined)
  const end = useAction({
    run,
    done: words.ended,
    changes,
    showsFailure: true,
    onDone: close,
  })
  const column: Column<Row> = {
    id: 'end',
    header: '',
    narrow: true,
    cell: (row) => <EndButton row={row} options={options} onEnd={setEnding} />,
  }
  const dialog = (
    <ConfirmDialog
      isOpen={ending !== undefined}
      title={words.endTitle(ending === undefined ? '' : nameOf(ending))}
      label={words.endLabel}
      isDanger
      isPending={end.isPending}
      error={end.error}
      onConfirm={() => ending !== undefined && end.mutate(ending.id)}
      onClose={close}
    >
      {words.endHelp}
    </ConfirmDialog>
  )
  return { column, dialog }
}

interface EndButtonProps<Row> {
  readonly row: Row
  readonly options: RowEndingOptions<Row>
  readonly onEnd: (row: Row) => void
}

function EndButton<Row extends Item>({ row, options, onEnd }: EndButtonProps<Row>) {
  const may = useMay(MANAGE_PERMISSION)
  const { words, nameOf, isOver } = options
  if (isOver(row, useNow())) return null
  return (
    <Button
      variant="default"
      size="compact-sm"
      disabled={!may}
      title={may ? undefined : texts.mayNot}
      aria-label={words.endOf(nameOf(row))}
      onClick={() => onEnd(row)}
    >
      {words.end}
    </Button>
  )
}
