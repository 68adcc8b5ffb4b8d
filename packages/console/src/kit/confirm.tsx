/* Asks once before something is done that is hard or impossible to undo. */
import { Alert, Button, Group, Modal, Stack, Text, TextInput } from '@mantine/core'
import { AlertIcon } from '@primer/octicons-react'
import { useEffect, useState, type ReactNode } from 'react'
import { texts } from './texts.ts'

interface ConfirmDialogProps {
  readonly isOpen: boolean
  /** The question, such as `Delete the stream Gateway?`. */
  readonly title: string
  /** What will happen and what cannot be undone. */
  readonly children: ReactNode
  /** What the button does, with the name of the thing: `Delete stream`. */
  readonly label: string
  /** Whether something is lost. */
  readonly isDanger?: boolean
  /** A text that must be typed before, for what many depend on. */
  readonly typed?: string
  readonly isPending: boolean
  readonly error?: Error | null
  readonly onConfirm: () => void
  readonly onClose: () => void
}

export function ConfirmDialog(props: ConfirmDialogProps) {
  const { isOpen, title, children, label, isDanger = false, typed, isPending, error } = props
  const [text, setText] = useState('')
  useEffect(() => setText(''), [isOpen])
  const mayConfirm = typed === undefined || text.trim() === typed
  return (
    <Modal opened={isOpen} onClose={props.onClose} title={title} size={480}>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          if (mayConfirm) props.onConfirm()
        }}
      >
        <Stack gap="md">
          <Text size="sm" component="div">
            {children}
          </Text>
          {typed === undefined ? null : (
            <TextInput
              label={texts.typeToConfirm(typed)}
              value={text}
              onChange={(event) => setText(event.currentTarget.value)}
              autoComplete="off"
              data-autofocus
            />
          )}
          <Fault error={error} />
          <Group justify="flex-end" gap="xs">
            <Button variant="default" onClick={props.onClose}>
              {texts.cancel}
            </Button>
            <Button
              type="submit"
              {...(isDanger ? { color: 'red' } : {})}
              loading={isPending}
              disabled={!mayConfirm}
            >
              {label}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  )
}

/** What went wrong with what was sent, in the words of the service; nothing when nothing did. */
export function Fault({ error }: { readonly error?: Error | null | undefined }) {
  if (error === null || error === undefined) return null
  return (
    <Alert color="red" icon={<AlertIcon />} role="alert" p="xs">
      {error.message}
    </Alert>
  )
}
