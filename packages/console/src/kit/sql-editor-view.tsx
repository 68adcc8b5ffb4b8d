/* The SQL editor proper: CodeMirror, its look, and what it completes. Loaded when an editor is shown. */
import { SQLite, sql, type SQLNamespace } from '@codemirror/lang-sql'
import { HighlightStyle, syntaxHighlighting } from '@codemirror/language'
import { Annotation, Compartment, EditorState, Prec, type Extension } from '@codemirror/state'
import { EditorView, keymap, type ViewUpdate } from '@codemirror/view'
import type { Completion, CompletionContext, CompletionResult } from '@codemirror/autocomplete'
import { tags } from '@lezer/highlight'
import { basicSetup } from 'codemirror'
import { useEffect, useRef } from 'react'
import { OSQUERY_TABLES, PLATFORM_NAMES } from './osquery-tables.ts'
import { SentTexts } from './sent-texts.ts'
import type { SqlEditorProps, SqlTable } from './sql-editor.tsx'

interface ViewProps extends SqlEditorProps {
  readonly labelId: string
  readonly minHeight: string
}

export function SqlEditorView(props: ViewProps) {
  const { value, labelId, minHeight, isReadOnly = false, tables = osqueryTables() } = props
  const host = useRef<HTMLDivElement>(null)
  const view = useRef<EditorView>(null)
  const sent = useRef(new SentTexts())
  // What the editor calls is always that of the last drawing.
  const latest = useRef(props)
  useEffect(() => {
    latest.current = props
  })
  useEffect(() => {
    if (host.current === null) return
    const editor = new EditorView({
      parent: host.current,
      doc: latest.current.value,
      extensions: [
        Prec.highest(
          keymap.of([
            {
              key: 'Mod-Enter',
              run: () => {
                latest.current.onRun?.()
                return latest.current.onRun !== undefined
              },
            },
          ]),
        ),
        basicSetup,
        EditorView.cspNonce.of(
          document.querySelector<HTMLElement>('meta[property=csp-nonce]')?.nonce ?? '',
        ),
        EditorView.lineWrapping,
        EditorView.contentAttributes.of({ 'aria-labelledby': labelId }),
        EditorView.updateListener.of((update) => {
          if (!update.docChanged || isFromValue(update)) return
          const typed = update.state.doc.toString()
          sent.current.add(typed)
          latest.current.onChange(typed)
        }),
        look(minHeight),
        syntaxHighlighting(INKS),
        changing.of([]),
      ],
    })
    view.current = editor
    return () => {
      editor.destroy()
      view.current = null
    }
  }, [labelId, minHeight])
  useEffect(() => {
    const effects = changing.reconfigure([
      language(tables),
      EditorState.readOnly.of(isReadOnly),
      EditorView.editable.of(!isReadOnly),
    ])
    view.current?.dispatch({ effects })
  }, [tables, isReadOnly, labelId, minHeight])
  useEffect(() => {
    const editor = view.current
    if (editor === null || sent.current.takeBack(value)) return
    const { doc } = editor.state
    // However its lines are broken: the editor does it in its own way.
    if (doc.eq(editor.state.toText(value))) return
    editor.dispatch({
      changes: { from: 0, to: doc.length, insert: value },
      annotations: fromValue.of(true),
    })
  }, [value])
  return <div ref={host} data-testid="sql-editor" />
}

/** Marks what nobody has typed. */
const fromValue = Annotation.define<true>()

function isFromValue({ transactions }: ViewUpdate): boolean {
  return transactions.some((transaction) => transaction.annotation(fromValue) === true)
}

/** What changes while the editor is open. */
const changing = new Compartment()

let ofOsquery: readonly SqlTable[] | undefined

function osqueryTables(): readonly SqlTable[] {
  ofOsquery ??= OSQUERY_TABLES.map(({ name, platforms, columns }) => ({
    name,
    detail: platforms.map((platform) => PLATFORM_NAMES[platform]).join(', '),
    columns: columns.map((column) => ({
      name: column.name,
      detail: column.isRequired ? `${column.type}, must be narrowed` : column.type,
    })),
  }))
  return ofOsquery
}

function language(tables: readonly SqlTable[]): Extension {
  const schema: SQLNamespace = Object.fromEntries(
    tables.map(({ name, detail = '', columns }) => [
      name,
      { self: { label: name, type: 'type', detail }, children: columns.map(toCompletion) },
    ]),
  )
  const byName = new Map(tables.map((table) => [table.name, table]))
  return [
    sql({ dialect: SQLite, schema }),
    SQLite.language.data.of({
      autocomplete: (context: CompletionContext) => completeColumns(context, byName),
    }),
  ]
}

function toCompletion({ name, detail = '' }: SqlTable['columns'][number]): Completion {
  return { label: name, type: 'property', detail, boost: 20 }
}

const NAMED_TABLE = /\b(?:from|join|,)\s+["'`]?([a-z_]\w*)/gi

/** The columns of the tables that the query names, wherever a column can stand without its table. */
function completeColumns(
  context: CompletionContext,
  tables: ReadonlyMap<string, SqlTable>,
): CompletionResult | null {
  const word = context.matchBefore(/[\w]+/)
  if (word === null && !context.explicit) return null
  const from = word?.from ?? context.pos
  const before = context.state.sliceDoc(Math.max(0, from - 40), from)
  if (/(?:\.|\b(?:from|join)\s+)$/i.test(before)) return null
  const named = [...context.state.doc.toString().matchAll(NAMED_TABLE)].map(([, name = '']) =>
    tables.get(name.toLowerCase()),
  )
  const columns = named.flatMap((table) => table?.columns ?? [])
  const options = [...new Map(columns.map((column) => [column.name, column])).values()]
  return options.length === 0
    ? null
    : { from, options: options.map(toCompletion), validFor: /^\w*$/ }
}

const INKS = HighlightStyle.define([
  { tag: tags.keyword, color: 'var(--helio-accent)', fontWeight: '600' },
  { tag: [tags.string, tags.special(tags.string)], color: 'var(--helio-code-text)' },
  { tag: [tags.number, tags.bool, tags.null], color: 'var(--helio-code-number)' },
  { tag: [tags.comment], color: 'var(--helio-quiet)', fontStyle: 'italic' },
  { tag: [tags.typeName, tags.standard(tags.name)], color: 'var(--helio-code-number)' },
])

function look(minHeight: string): Extension {
  return EditorView.theme({
    '&': { color: 'var(--helio-text)', backgroundColor: 'transparent' },
    '&.cm-focused': { outline: 'none' },
    '.cm-scroller': { fontFamily: 'var(--helio-mono)', lineHeight: '1.5', minHeight },
    '.cm-content': { padding: '0.5rem 0', caretColor: 'var(--helio-text)', minHeight },
    '.cm-cursor': { borderLeftColor: 'var(--helio-text)' },
    '.cm-gutters': {
      backgroundColor: 'transparent',
      color: 'var(--helio-quiet)',
      border: 'none',
    },
    '.cm-activeLine, .cm-activeLineGutter': { backgroundColor: 'transparent' },
    '&.cm-focused .cm-activeLine': {
      backgroundColor: 'color-mix(in srgb, var(--helio-accent-soft) 40%, transparent)',
    },
    '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground':
      { backgroundColor: 'var(--helio-accent-soft)' },
    '.cm-matchingBracket': { backgroundColor: 'var(--helio-accent-soft)' },
    '.cm-selectionMatch': { backgroundColor: 'var(--helio-sunken)' },
    '.cm-tooltip': {
      backgroundColor: 'var(--helio-surface)',
      border: '1px solid var(--helio-line)',
      borderRadius: '6px',
      boxShadow: 'var(--helio-shadow)',
      overflow: 'hidden',
    },
    '.cm-tooltip.cm-tooltip-autocomplete > ul': {
      fontFamily: 'var(--helio-mono)',
      fontSize: '0.78125rem',
      maxHeight: '16.25rem',
    },
    '.cm-tooltip.cm-tooltip-autocomplete > ul > li': { padding: '0.1875rem 0.625rem' },
    '.cm-tooltip-autocomplete ul li[aria-selected]': {
      backgroundColor: 'var(--helio-accent-soft)',
      color: 'var(--helio-text)',
    },
    '.cm-completionDetail': {
      color: 'var(--helio-quiet)',
      fontStyle: 'normal',
      marginLeft: '1.5em',
      fontFamily: 'var(--helio-sans)',
      fontSize: 'var(--mantine-font-size-xs)',
    },
    '.cm-completionMatchedText': { textDecoration: 'none', fontWeight: '700' },
    '.cm-panels': { backgroundColor: 'var(--helio-sunken)', color: 'var(--helio-text)' },
  })
}
