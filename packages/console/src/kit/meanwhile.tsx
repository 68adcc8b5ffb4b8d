/*
 * What others save while a form is open: it is shown at once where nobody types, and asked about where somebody does.
 */
import { Alert, Button, Group } from '@mantine/core'
import type { UseFormReturnType } from '@mantine/form'
import { AlertIcon } from '@primer/octicons-react'
import { useEffect, useRef, useState } from 'react'
import { texts } from './texts.ts'

interface Meanwhile<Values> {
  /** What is saved, as far as it is known: what differs from it is what was changed here. */
  readonly saved: Values
  /** The fields that were changed here and by somebody else. */
  readonly disputed: readonly (keyof Values & string)[]
  readonly keepMine: () => void
  readonly takeTheirs: () => void
  /**
   * Does what saves only once it is decided whose values count; until then it points to the question, and `otherwise`
   * follows, such as closing what lies over it.
   */
  readonly whenDecided: <Args extends readonly unknown[]>(
    save: (...args: Args) => void,
    otherwise?: () => void,
  ) => (...args: Args) => void
  /** How often the question was pointed to. */
  readonly reminders: number
  /** Says what was saved from here. */
  readonly setSaved: (values: Values) => void
  /** Says what was sent from here and how it was saved: inputs follow, but for what was typed since. */
  readonly settle: (sent: Values, after: Values) => void
}

/** Follows a record, as values of its form, while the form is open. */
export function useMeanwhile<Values extends object>(
  form: UseFormReturnType<Values>,
  current: Values,
): Meanwhile<Values> {
  const [saved, setSaved] = useState(current)
  const [asked, setDisputed] = useState<readonly (keyof Values & string)[]>([])
  const [reminders, setReminders] = useState(0)
  const { getValues, setValues, resetDirty } = form
  useEffect(() => {
    const mine = getValues()
    const names = Object.keys(current) as (keyof Values & string)[]
    const changed = names.filter((name) => !isSame(saved[name], current[name]))
    if (changed.length === 0) return
    const isUntouched = (name: keyof Values) => isSame(mine[name], saved[name])
    setValues(pick(current, changed.filter(isUntouched)))
    resetDirty(current)
    setSaved(current)
    setDisputed((before) =>
      [...new Set([...before, ...changed.filter((name) => !isUntouched(name))])].filter(
        (name) => !isSame(mine[name], current[name]),
      ),
    )
  }, [JSON.stringify(current)])
  // What is the same by now needs no decision.
  const disputed = asked.filter((name) => !isSame(getValues()[name], saved[name]))
  return {
    saved,
    disputed,
    reminders,
    whenDecided:
      (save, otherwise) =>
      (...args) => {
        if (disputed.length === 0) save(...args)
        else {
          setReminders(reminders + 1)
          otherwise?.()
        }
      },
    keepMine: () => setDisputed([]),
    takeTheirs: () => {
      setValues(pick(saved, disputed))
      setDisputed([])
    },
    setSaved,
    settle: (sent, after) => {
      const mine = getValues()
      const names = Object.keys(after) as (keyof Values & string)[]
      const typedSince = names.filter((name) => !isSame(mine[name], sent[name]))
      const followed = names.filter((name) => !typedSince.includes(name))
      setValues(pick(after, followed))
      resetDirty(after)
      setSaved(after)
      setDisputed((before) =>
        before.filter((name) => typedSince.includes(name) && !isSame(after[name], sent[name])),
      )
    },
  }
}

function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other)
}

function pick<Values extends object>(values: Values, names: readonly (keyof Values)[]) {
  return Object.fromEntries(names.map((name) => [name, values[name]])) as Partial<Values>
}

/** Says a value as a person reads it. */
type Tell<Value> = (value: Value) => string

/** Whether values tell themselves: any text, any number, yes or no, and lists of any texts. Names of choices do not. */
type TellsItself<Value> = [Value] extends [boolean]
  ? true
  : [string] extends [Value]
    ? true
    : [number] extends [Value]
      ? true
      : [string[]] extends [Value]
        ? true
        : false

/** How a field is told: the label that it has in the form, and its value in words where it does not tell itself. */
type FieldWord<Value> = {
  readonly label: string
} & (TellsItself<Value> extends true
  ? { readonly tell?: Tell<Value> }
  : { readonly tell: Tell<Value> })

/** How the fields of a form are told: every one, so that nobody reads the name that a field has here. */
export type FieldWords<Values> = {
  readonly [Name in keyof Values]: FieldWord<Values[Name]>
}

interface MeanwhileBarProps<Values> {
  readonly meanwhile: Meanwhile<Values>
  readonly words: FieldWords<Values>
}

/** Asks whose values count before anything is saved; nothing while nobody has changed the same. */
export function MeanwhileBar<Values extends object>({
  meanwhile: { disputed, saved, keepMine, takeTheirs, reminders },
  words,
}: MeanwhileBarProps<Values>) {
  const bar = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (reminders > 0) bar.current?.focus()
  }, [reminders])
  if (disputed.length === 0) return null
  return (
    <Alert
      ref={bar}
      tabIndex={-1}
      color="yellow"
      icon={<AlertIcon />}
      role="status"
      title={texts.changedMeanwhile}
    >
      <ul>
        {disputed.map((name) => (
          <li key={name}>
            {words[name].label}:{' '}
            {shorten(words[name].tell?.(saved[name]) ?? tellValue(saved[name]))}
          </li>
        ))}
      </ul>
      <p>{texts.decideFirst}</p>
      <Group gap="xs">
        <Button size="compact-sm" variant="default" onClick={takeTheirs}>
          {texts.takeTheirs}
        </Button>
        <Button size="compact-sm" variant="default" onClick={keepMine}>
          {texts.keepMine}
        </Button>
      </Group>
    </Alert>
  )
}

/** A value that tells itself. */
function tellValue(value: unknown): string {
  if (value === null || value === undefined || value === '') return texts.none
  if (typeof value === 'boolean') return value ? texts.yes : texts.no
  if (Array.isArray(value)) return value.length === 0 ? texts.none : value.map(tellValue).join(', ')
  return typeof value === 'string' ? value : JSON.stringify(value)
}

const SHOWN_MAX = 120

function shorten(text: string): string {
  return text.length > SHOWN_MAX ? `${text.slice(0, SHOWN_MAX)} …` : text
}
