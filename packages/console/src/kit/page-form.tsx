/* A form that fills a page: its sections, what went wrong, and its buttons. */
import { Button, Group, Stack } from '@mantine/core'
import type { ReactNode } from 'react'
import { Fault } from './confirm.tsx'
import { texts } from './texts.ts'
import { UnsavedWork } from './unsaved-work.tsx'

/** What the page around a form says of it. */
export interface PageFormProps {
  /** What the button does, such as `Create stream`. */
  readonly label: string
  /** It is being saved, or is saved and the page about to be left. */
  readonly isPending: boolean
  readonly error: Error | null
  readonly onCancel: () => void
}

interface Props extends PageFormProps {
  /** Something was entered that is not saved yet. */
  readonly isChanged: boolean
  /** Whether the session may save it; true when left out. What is missing stands in the page. */
  readonly may?: boolean
  /** In px. */
  readonly width: number
  readonly onSubmit: () => void
  readonly children: ReactNode
}

/** `error` is what the inputs do not show themselves. */
export function PageForm(props: Props) {
  const {
    label,
    isPending,
    error,
    onCancel,
    isChanged,
    may = true,
    width,
    onSubmit,
    children,
  } = props
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        if (may) onSubmit()
      }}
    >
      <UnsavedWork isUnsaved={isChanged && may} isPending={isPending} />
      <Stack maw={width}>
        {children}
        <Fault error={error} />
        <Group gap="xs">
          <Button type="submit" disabled={!may} loading={isPending}>
            {label}
          </Button>
          <Button variant="default" onClick={onCancel}>
            {texts.cancel}
          </Button>
        </Group>
      </Stack>
    </form>
  )
}
