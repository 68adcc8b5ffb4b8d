/* An editor for SQL, with completion over the tables that can be asked. The editor itself comes when it is shown. */
import { Input, Skeleton } from '@mantine/core'
import { useId } from '@mantine/hooks'
import { Suspense, type ReactNode } from 'react'
import { lazyPart } from './lazy-part.tsx'
import classes from './sql-editor.module.css'

const View = lazyPart(() => import('./sql-editor-view.tsx'), 'SqlEditorView')

/** A table that can be asked, for completion. */
export interface SqlTable {
  readonly name: string
  /** Beside the name, such as where it exists. */
  readonly detail?: string
  readonly columns: readonly { readonly name: string; readonly detail?: string }[]
}

export interface SqlEditorProps {
  readonly label: string
  readonly description?: ReactNode
  /** What is wrong, in the words of the service. */
  readonly error?: ReactNode
  readonly value: string
  readonly onChange: (sql: string) => void
  /** What is completed: the tables of osquery when left out. */
  readonly tables?: readonly SqlTable[]
  /** What `⌘ Enter` or `Ctrl Enter` does. */
  readonly onRun?: () => void
  readonly isReadOnly?: boolean
  /** In lines; 6 when left out. The editor grows with its text. */
  readonly lines?: number
}

export function SqlEditor(props: SqlEditorProps) {
  const { label, description, error, lines = 6 } = props
  const id = useId()
  const minHeight = `${lines * 1.5 + 1}em`
  return (
    <Input.Wrapper
      label={label}
      description={description}
      error={error}
      labelElement="div"
      labelProps={{ id }}
    >
      <div
        className={classes.frame}
        data-invalid={error === undefined || error === null || error === '' ? undefined : ''}
        style={{ minHeight }}
      >
        <Suspense fallback={<Skeleton height={minHeight} />}>
          <View {...props} labelId={id} minHeight={minHeight} />
        </Suspense>
      </div>
    </Input.Wrapper>
  )
}
