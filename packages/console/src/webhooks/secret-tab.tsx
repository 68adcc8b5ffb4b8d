/* The secret of a webhook: revealed on request, rotated without a gap. */
import { Button, Checkbox, Modal, NumberInput, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { getWebhooksByIdSecret, postWebhooksByIdRotateSecret } from '../api/generated/sdk.gen.ts'
import type { Webhook } from '../api/generated/types.gen.ts'
import { CodeBlock } from '../kit/code-block.tsx'
import { DialogForm } from '../kit/confirm.tsx'
import { Section } from '../kit/page.tsx'
import { IssuedSecretDialog, RevealedSecret } from '../kit/secret.tsx'
import { Time } from '../kit/time.tsx'
import { useAction } from '../kit/use-action.ts'
import { useMay } from '../shell/session.ts'
import { texts } from './texts.ts'
import { WEBHOOKS_PERMISSION } from './webhook-queries.ts'

/** How long what was used before goes on, unless another time is entered. */
const OVERLAP_HOURS = 24

const { secretTab: words } = texts
const HOUR_MS = 3_600_000

export function SecretTab({ webhook }: { readonly webhook: Webhook }) {
  const { id, public_key: publicKey, old_secrets_end_at: oldEnd } = webhook
  const [isRotating, setRotating] = useState(false)
  const [issued, setIssued] = useState<string>()
  const may = useMay(WEBHOOKS_PERMISSION)
  const stopRotating = () => setRotating(false)
  const reveal = async () => {
    const { data } = await getWebhooksByIdSecret({ path: { id }, throwOnError: true })
    return data.secret ?? ''
  }
  return (
    <Section
      title={words.title}
      lead={publicKey === null ? words.lead : words.publicLead}
      actions={
        <Button variant="default" disabled={!may} onClick={() => setRotating(true)}>
          {words.rotate}
        </Button>
      }
    >
      <Stack maw={620}>
        {publicKey === null ? (
          <RevealedSecret
            name={words.secret}
            reveal={reveal}
            refusal={may ? undefined : texts.mayNot}
          />
        ) : (
          <CodeBlock name={texts.page.publicKey} value={publicKey} isToken />
        )}
        {oldEnd === null ? null : (
          <Text size="sm">
            {words.oldEnd} <Time at={oldEnd} isExact />.
          </Text>
        )}
      </Stack>
      <Modal opened={isRotating} onClose={stopRotating} title={words.rotateTitle} size={460}>
        <RotateForm id={id} onIssued={setIssued} onClose={stopRotating} />
      </Modal>
      <IssuedSecretDialog
        title={words.issuedTitle}
        secrets={issued === undefined ? [] : [{ name: words.secret, value: issued }]}
        isKept
        onClose={() => setIssued(undefined)}
      >
        {texts.form.issuedLead}
      </IssuedSecretDialog>
    </Section>
  )
}

interface RotateFormProps {
  readonly id: string
  readonly onIssued: (secret: string) => void
  readonly onClose: () => void
}

function RotateForm({ id, onIssued, onClose }: RotateFormProps) {
  const [isImmediate, setImmediate] = useState(false)
  const [hours, setHours] = useState<number | string>(OVERLAP_HOURS)
  const rotate = useAction({
    run: async () => {
      const end = new Date(Date.now() + Number(hours) * HOUR_MS).toISOString()
      const body = isImmediate ? { immediate: true } : { old_secret_ends_at: end }
      return (await postWebhooksByIdRotateSecret({ path: { id }, body, throwOnError: true })).data
    },
    changes: [['webhooks']],
    showsFailure: true,
    onDone: ({ secret }) => {
      onClose()
      if (secret !== null) onIssued(secret)
    },
  })
  return (
    <DialogForm
      label={words.rotate}
      isChanged={isImmediate || hours !== OVERLAP_HOURS}
      isPending={rotate.isPending}
      error={rotate.error}
      onSubmit={() => rotate.mutate()}
      onClose={onClose}
    >
      <Text size="sm">{words.rotateHelp}</Text>
      <Checkbox
        label={words.immediate}
        checked={isImmediate}
        onChange={(event) => setImmediate(event.currentTarget.checked)}
      />
      {isImmediate ? null : (
        <NumberInput label={words.hours} min={1} value={hours} onChange={setHours} />
      )}
    </DialogForm>
  )
}
