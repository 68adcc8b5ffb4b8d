/*
 * The search of a list, in the API's own grammar: a text that can be typed, and a builder beside it that
 * shows the text which it makes, so that whoever builds learns to type.
 */
import {
  ActionIcon,
  Button,
  Code,
  Group,
  Popover,
  Select,
  Stack,
  Text,
  TextInput,
} from '@mantine/core'
import { useDebouncedCallback, useDebouncedValue } from '@mantine/hooks'
import { FilterIcon, SearchIcon, XIcon } from '@primer/octicons-react'
import { useEffect, useRef, useState } from 'react'
import { SEARCH_FIELDS, type SearchField } from '../api/generated/search-fields.gen.ts'
import { isForPage } from './shortcut-scope.ts'
import { addClause, quoteText } from './search-text.ts'
import { useTypedText } from './sent-texts.ts'
import { texts } from './texts.ts'

/** A pause in typing after which the search is sent. */
const PAUSE_MS = 40
/** What is wrong is told when it has been for so long: a clause that is being typed is not yet one. */
const FAULT_AFTER_MS = 600

interface SearchBarProps {
  /** The path of the list in the API, such as `/devices`: what can be searched is read from its document. */
  readonly path?: keyof typeof SEARCH_FIELDS
  /** What can be searched, where the document cannot tell. */
  readonly fields?: readonly SearchField[]
  readonly value: string
  readonly onChange: (search: string) => void
  /** What is wrong with the search, in the words of the service. */
  readonly fault?: string | undefined
}

export function SearchBar({ path, fields, value, onChange, fault }: SearchBarProps) {
  const { text, setText, send } = useTypedText(value, onChange)
  const input = useRef<HTMLInputElement>(null)
  const [lastingFault] = useDebouncedValue(fault, FAULT_AFTER_MS)
  const sendLater = useDebouncedCallback(send, PAUSE_MS)
  useEffect(() => focusOnSlash(input), [])
  const change = (next: string) => {
    setText(next)
    sendLater(next.trim())
  }
  const changeAtOnce = (next: string) => {
    sendLater.cancel()
    setText(next)
    send(next.trim())
  }
  return (
    <Group gap={6} wrap="nowrap" align="flex-start" role="search">
      <TextInput
        ref={input}
        flex={1}
        aria-label={texts.search}
        placeholder={texts.searchExample}
        leftSection={<SearchIcon size={15} />}
        rightSection={
          text === '' ? null : (
            <ActionIcon
              size="sm"
              aria-label={texts.clear}
              onClick={() => {
                changeAtOnce('')
                input.current?.focus()
              }}
            >
              <XIcon size={14} />
            </ActionIcon>
          )
        }
        value={text}
        error={fault === undefined ? undefined : lastingFault}
        spellCheck={false}
        autoComplete="off"
        onChange={(event) => change(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === 'Enter') changeAtOnce(text)
        }}
      />
      <FilterBuilder
        fields={fields ?? (path === undefined ? [] : SEARCH_FIELDS[path])}
        onAdd={(clause) => changeAtOnce(addClause(text, clause))}
      />
    </Group>
  )
}

/** `/` leads to the search of a page from anywhere but another input. */
function focusOnSlash(input: { readonly current: HTMLInputElement | null }) {
  const listen = (event: KeyboardEvent) => {
    if (event.key !== '/' || !isForPage(event)) return
    event.preventDefault()
    input.current?.focus()
    input.current?.select()
  }
  document.addEventListener('keydown', listen)
  return () => document.removeEventListener('keydown', listen)
}

interface FilterBuilderProps {
  readonly fields: readonly SearchField[]
  readonly onAdd: (clause: string) => void
}

function FilterBuilder({ fields, onAdd }: FilterBuilderProps) {
  const [isOpen, setOpen] = useState(false)
  const [name, setName] = useState(fields[0]?.name ?? '')
  const field = fields.find((candidate) => candidate.name === name)
  const [chosen, setOperator] = useState('')
  const [value, setValue] = useState('')
  if (field === undefined) return null
  const operators = operatorsOf(field)
  const operator = operators.find((each) => each === chosen) ?? operators[0] ?? ':'
  const clause = `${name}${operator}${quote(field, value)}`
  const add = () => {
    onAdd(clause)
    setValue('')
    setOpen(false)
  }
  return (
    <Popover opened={isOpen} onChange={setOpen} position="bottom-end" trapFocus width={320}>
      <Popover.Target>
        <Button
          variant="default"
          leftSection={<FilterIcon size={16} />}
          onClick={() => setOpen(!isOpen)}
        >
          {texts.addFilter}
        </Button>
      </Popover.Target>
      <Popover.Dropdown>
        <form
          onSubmit={(event) => {
            event.preventDefault()
            if (value !== '') add()
          }}
        >
          <Stack gap="sm">
            <Select
              label={texts.field}
              data={fields.map((each) => each.name)}
              value={name}
              onChange={(next) => {
                setName(next ?? name)
                setValue('')
              }}
              comboboxProps={{ withinPortal: false }}
              searchable
            />
            <Select
              label={texts.comparison}
              data={operators.map((each) => ({ value: each, label: operatorText(each) }))}
              value={operator}
              onChange={(next) => setOperator(next ?? '')}
              comboboxProps={{ withinPortal: false }}
            />
            <ValueInput field={field} value={value} onChange={setValue} />
            <Text size="xs" c="dimmed" component="div">
              {texts.becomes} <Code>{clause}</Code>
            </Text>
            <Button type="submit" disabled={value === ''}>
              {texts.add}
            </Button>
          </Stack>
        </form>
      </Popover.Dropdown>
    </Popover>
  )
}

interface ValueInputProps {
  readonly field: SearchField
  readonly value: string
  readonly onChange: (value: string) => void
}

function ValueInput({ field, value, onChange }: ValueInputProps) {
  if (field.values !== undefined) {
    return (
      <Select
        label={texts.value}
        data={field.values}
        value={value === '' ? null : value}
        onChange={(next) => onChange(next ?? '')}
        comboboxProps={{ withinPortal: false }}
      />
    )
  }
  const type = field.type === 'timestamp' ? 'datetime-local' : 'text'
  return (
    <TextInput
      label={texts.value}
      type={type}
      value={value}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  )
}

/** Nobody picks a time to its millisecond. */
function operatorsOf({ type, operators }: SearchField) {
  return type === 'timestamp' ? operators.filter((each) => each !== ':') : operators
}

function operatorText(operator: string): string {
  return (texts.operators as Readonly<Record<string, string>>)[operator] ?? operator
}

/** Texts and times stand in quotes; a quote inside is doubled by a backslash. */
function quote(field: SearchField, value: string): string {
  if (field.type === 'timestamp') {
    const time = new Date(value)
    return Number.isNaN(time.getTime()) ? '""' : `"${time.toISOString()}"`
  }
  if (field.type === 'text' || /[^\w.@-]/.test(value)) {
    return quoteText(value)
  }
  return value
}
