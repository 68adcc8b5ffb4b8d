/*
 * Secrets: shown once after they were issued, or revealed on request. What is revealed hides itself after a
 * minute and is forgotten then; what is copied is never shown.
 */
import {
  ActionIcon,
  Button,
  CopyButton,
  Group,
  Modal,
  Stack,
  Text,
  TextInput,
  Tooltip,
} from '@mantine/core'
import { AlertIcon, CheckIcon, CopyIcon, EyeClosedIcon, EyeIcon } from '@primer/octicons-react'
import { useMutation } from '@tanstack/react-query'
import { useBlocker } from '@tanstack/react-router'
import { useEffect, useState, type ReactNode } from 'react'
import { DialogForm, Fault } from './confirm.tsx'
import classes from './secret.module.css'
import { useHeldPage } from './held-page.ts'
import { texts } from './texts.ts'

/** How long a secret stays to be seen. */
const SECRET_SHOWN_MS = 60_000

const MASK = '••••••••••••••••'

interface SecretProps {
  /** What it is, such as `Secret of Tickets`. */
  readonly name: string
  readonly value: string
  /** Told when the time is over. */
  readonly onHidden?: () => void
}

/** A secret that the page holds: masked, copied with a click, shown for a minute. */
export function Secret({ name, value, onHidden }: SecretProps) {
  const [isShown, setShown] = useState(false)
  useHideAfter(isShown, () => {
    setShown(false)
    onHidden?.()
  })
  return (
    <SecretRow name={name} text={isShown ? value : MASK} isMasked={!isShown}>
      <Tooltip label={isShown ? texts.hide : texts.show}>
        <ActionIcon
          aria-label={`${isShown ? texts.hide : texts.show} ${name}`}
          onClick={() => setShown(!isShown)}
        >
          {isShown ? <EyeClosedIcon /> : <EyeIcon />}
        </ActionIcon>
      </Tooltip>
      <CopySecret name={name} value={value} />
    </SecretRow>
  )
}

interface RevealedSecretProps {
  readonly name: string
  /** What is known of it without revealing it, such as its last four characters. */
  readonly lastFour?: string
  /** Asks the service for it; with the reason where one is asked for. */
  readonly reveal: (reason: string) => Promise<string>
  /** The service keeps the reason in the audit log. */
  readonly asksReason?: boolean
  /** Why it cannot be revealed by this admin; undefined when it can. */
  readonly refusal?: string | undefined
}

/** A secret that the service holds: asked for when it is wanted, forgotten after a minute. */
export function RevealedSecret(props: RevealedSecretProps) {
  const { name, lastFour = '', reveal, asksReason = false, refusal } = props
  const [isAsking, setAsking] = useState(false)
  const {
    data: value,
    mutate,
    reset,
    error,
    isPending,
  } = useMutation({
    mutationFn: reveal,
    gcTime: 0,
    onSuccess: () => setAsking(false),
  })
  useHideAfter(value !== undefined, reset)
  const stopAsking = () => {
    setAsking(false)
    reset()
  }
  return (
    <>
      <SecretRow name={name} text={value ?? `${MASK}${lastFour}`} isMasked={value === undefined}>
        {value === undefined ? (
          <Tooltip label={refusal ?? texts.show}>
            <Button
              size="compact-sm"
              variant="default"
              leftSection={<EyeIcon />}
              disabled={refusal !== undefined}
              loading={isPending && !isAsking}
              onClick={() => (asksReason ? setAsking(true) : mutate(''))}
              aria-label={`${texts.show} ${name}`}
            >
              {texts.show}
            </Button>
          </Tooltip>
        ) : (
          <>
            <ActionIcon aria-label={`${texts.hide} ${name}`} onClick={reset}>
              <EyeClosedIcon />
            </ActionIcon>
            <CopySecret name={name} value={value} />
          </>
        )}
      </SecretRow>
      {asksReason ? null : <Fault error={error} />}
      <Modal opened={isAsking} onClose={stopAsking} title={`${texts.show}: ${name}`} size={460}>
        <ReasonForm isPending={isPending} error={error} onGiven={mutate} onClose={stopAsking} />
      </Modal>
    </>
  )
}

interface ReasonFormProps {
  readonly isPending: boolean
  readonly error: Error | null
  readonly onGiven: (reason: string) => void
  readonly onClose: () => void
}

function ReasonForm({ isPending, error, onGiven, onClose }: ReasonFormProps) {
  const [reason, setReason] = useState('')
  return (
    <DialogForm
      label={texts.show}
      isChanged={reason !== ''}
      isIncomplete={reason.trim() === ''}
      isPending={isPending}
      error={error}
      onSubmit={() => onGiven(reason.trim())}
      onClose={onClose}
    >
      <TextInput
        label={texts.reason}
        description={texts.reasonHelp}
        value={reason}
        onChange={(event) => setReason(event.currentTarget.value)}
        autoComplete="off"
        required
        data-autofocus
      />
    </DialogForm>
  )
}

interface IssuedSecretDialogProps {
  /** Such as `The secret of Gateway`. */
  readonly title: string
  /** What was issued, by its name; the dialog is open while there is something. */
  readonly secrets: readonly { readonly name: string; readonly value: string }[]
  /** Whether the service shows it again to admins who ask. */
  readonly isKept?: boolean
  /** What it is for and where it goes. */
  readonly children?: ReactNode
  readonly onClose: () => void
}

/**
 * Shows what was issued, which most of the time is never shown again; it closes by its button only: the Back button
 * does nothing, and the browser asks before it leaves.
 */
export function IssuedSecretDialog(props: IssuedSecretDialogProps) {
  const { title, secrets, isKept = false, children, onClose } = props
  const isOpen = secrets.length > 0
  const { isHeld, release } = useHeldPage(isOpen)
  useBlocker({ shouldBlockFn: isHeld, enableBeforeUnload: isHeld })
  const close = () => {
    release()
    onClose()
  }
  return (
    <Modal
      opened={isOpen}
      onClose={close}
      title={title}
      size={560}
      closeOnClickOutside={false}
      closeOnEscape={false}
      withCloseButton={false}
    >
      <Stack>
        {children === undefined ? null : (
          <Text size="sm" component="div">
            {children}
          </Text>
        )}
        {secrets.map(({ name, value }) => (
          <div key={name}>
            <Text size="xs" c="dimmed" mb={4}>
              {name}
            </Text>
            <Secret name={name} value={value} />
          </div>
        ))}
        {isKept ? (
          <Text size="sm">{texts.shownAgain}</Text>
        ) : (
          <Group gap={8} wrap="nowrap" c="var(--helio-warn)">
            <AlertIcon />
            <Text size="sm">{texts.shownOnce}</Text>
          </Group>
        )}
        <Group justify="flex-end">
          <Button onClick={close}>{texts.haveStored}</Button>
        </Group>
      </Stack>
    </Modal>
  )
}

interface SecretRowProps {
  readonly name: string
  readonly text: string
  readonly isMasked: boolean
  readonly children: ReactNode
}

function SecretRow({ name, text, isMasked, children }: SecretRowProps) {
  return (
    <div className={classes.row} role="group" aria-label={name}>
      <code className={classes.text} data-masked={isMasked ? '' : undefined}>
        {text}
      </code>
      {children}
    </div>
  )
}

function CopySecret({ name, value }: { readonly name: string; readonly value: string }) {
  return (
    <CopyButton value={value} timeout={1500}>
      {({ copied, copy }) => (
        <Tooltip label={copied ? texts.copied : texts.copy}>
          <ActionIcon aria-label={`${copied ? texts.copied : texts.copy} ${name}`} onClick={copy}>
            {copied ? <CheckIcon /> : <CopyIcon />}
          </ActionIcon>
        </Tooltip>
      )}
    </CopyButton>
  )
}

function useHideAfter(isShown: boolean, hide: () => void): void {
  useEffect(() => {
    if (!isShown) return
    const timer = setTimeout(hide, SECRET_SHOWN_MS)
    return () => clearTimeout(timer)
    // Only its appearance starts the time.
  }, [isShown])
}
