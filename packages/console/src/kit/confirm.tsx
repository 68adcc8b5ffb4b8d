/* What is asked in a dialog: a form, and the confirmation of what is hard or impossible to undo. */
import { Alert, Button, Group, Modal, Stack, Text, TextInput } from '@mantine/core'
import { AlertIcon } from '@primer/octicons-react'
import { useState, type ReactNode } from 'react'
import { useHeldPage } from './held-page.ts'
import { texts } from './texts.ts'
import { useAction, type Action } from './use-action.ts'

interface DialogFormProps {
  /** What the button does, with the name of the thing: `Delete stream`. */
  readonly label: string
  /** Whether something is lost. */
  readonly isDanger?: boolean
  /** Something was entered: the page and the dialog stay for it when the session ends. */
  readonly isChanged: boolean
  /** Something is missing that must be entered before. */
  readonly isIncomplete?: boolean
  readonly isPending: boolean
  /** What the inputs do not show themselves. */
  readonly error?: Error | null
  /** What the other button says; `Cancel` when left out. */
  readonly closeLabel?: string
  readonly onSubmit: () => void
  readonly onClose: () => void
  readonly children: ReactNode
}

/**
 * The form inside a dialog. A dialog makes its content anew whenever it opens, so that the component around this
 * form holds what is typed, from its initial values on.
 */
export function DialogForm(props: DialogFormProps) {
  const { label, isDanger = false, isIncomplete = false, closeLabel = texts.cancel } = props
  useHeldPage(props.isChanged)
  // What failed before the dialog was opened is not told again.
  const [toldBefore] = useState(props.error)
  const error = props.error === toldBefore ? null : props.error
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        if (!isIncomplete) props.onSubmit()
      }}
    >
      <Stack gap="md">
        {props.children}
        <Fault error={error} />
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={props.onClose}>
            {closeLabel}
          </Button>
          <Button
            type="submit"
            {...(isDanger ? { color: 'red' } : {})}
            loading={props.isPending}
            disabled={isIncomplete}
          >
            {label}
          </Button>
        </Group>
      </Stack>
    </form>
  )
}

interface ConfirmFormProps {
  /** What will happen and what cannot be undone. */
  readonly children: ReactNode
  readonly label: string
  readonly isDanger?: boolean
  /** What the other button says; `Cancel` when left out. */
  readonly closeLabel?: string
  /** A text that must be typed before, for what many depend on. */
  readonly typed?: string
  readonly isPending: boolean
  readonly error?: Error | null
  readonly onConfirm: () => void
  readonly onClose: () => void
}

interface ConfirmDialogProps extends ConfirmFormProps {
  readonly isOpen: boolean
  /** The question, such as `Delete the stream Gateway?`. */
  readonly title: string
}

/** Asks once before something is done. */
export function ConfirmDialog({ isOpen, title, ...form }: ConfirmDialogProps) {
  return (
    <Modal opened={isOpen} onClose={form.onClose} title={title} size={480}>
      <ConfirmForm {...form} />
    </Modal>
  )
}

interface ActionDialogProps<Output>
  extends
    Pick<Action<void, Output>, 'run' | 'done' | 'changes'>,
    Omit<ConfirmDialogProps, 'isPending' | 'error' | 'onConfirm'> {
  /** Follows once it is done and the dialog is closed. */
  readonly onDone?: (output: Output) => void
}

/** Asks once, and does it. The dialog closes when it is done, and shows what has failed. */
export function ActionDialog<Output>(props: ActionDialogProps<Output>) {
  const { run, done, changes, onDone, ...dialog } = props
  const action = useAction({
    run,
    ...(done === undefined ? {} : { done }),
    changes,
    showsFailure: true,
    onDone: (output) => {
      dialog.onClose()
      onDone?.(output)
    },
  })
  return (
    <ConfirmDialog
      {...dialog}
      isPending={action.isPending}
      error={action.error}
      onConfirm={() => action.mutate()}
    />
  )
}

function ConfirmForm({ children, typed, onConfirm, ...form }: ConfirmFormProps) {
  const [text, setText] = useState('')
  const isIncomplete = typed !== undefined && text.trim() !== typed
  return (
    <DialogForm {...form} isChanged={text !== ''} isIncomplete={isIncomplete} onSubmit={onConfirm}>
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
    </DialogForm>
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
