/* Whether admins sign in by the provider: switched on and off at once, and removed. */
import { Button, Text } from '@mantine/core'
import { useState } from 'react'
import type { AdminIdentityProvider } from '../api/generated/types.gen.ts'
import { ActionDialog, ConfirmDialog } from '../kit/confirm.tsx'
import { Section } from '../kit/page.tsx'
import { useAction } from '../kit/use-action.ts'
import { CHANGED, changeProvider, removeProvider, type Provider } from './provider-calls.ts'
import { texts } from './texts.ts'

interface ProviderStateProps {
  readonly provider: Provider
  readonly setup: AdminIdentityProvider
}

export function ProviderState({ provider, setup }: ProviderStateProps) {
  const { bound_admins: bound, bound_admins_without_other_way: alone } = setup
  const [asked, setAsked] = useState<'off' | 'remove'>()
  const close = () => setAsked(undefined)
  const toggle = useAction({
    run: (enabled: boolean) => changeProvider({ enabled }),
    done: (_setup, enabled) => (enabled ? texts.switchedOn : texts.switchedOff),
    changes: CHANGED,
    showsFailure: asked !== undefined,
    onDone: close,
  })
  return (
    <Section
      title={texts.state}
      actions={
        <>
          <Button
            variant="default"
            loading={toggle.isPending}
            onClick={() => (provider.enabled ? setAsked('off') : toggle.mutate(true))}
          >
            {provider.enabled ? texts.switchOff : texts.switchOn}
          </Button>
          <Button variant="default" onClick={() => setAsked('remove')}>
            {texts.remove}
          </Button>
        </>
      }
    >
      <Text size="sm">{provider.enabled ? texts.isOn(bound, alone) : texts.isOff(bound)}</Text>
      <ConfirmDialog
        isOpen={asked === 'off'}
        title={texts.offTitle(provider.name)}
        label={texts.switchOff}
        isDanger
        isPending={toggle.isPending}
        error={toggle.error}
        onConfirm={() => toggle.mutate(false)}
        onClose={close}
      >
        {texts.offHelp(alone)}
      </ConfirmDialog>
      <ActionDialog
        isOpen={asked === 'remove'}
        title={texts.removeTitle(provider.name)}
        label={texts.removeLabel}
        isDanger
        run={removeProvider}
        done={texts.removed}
        changes={CHANGED}
        onClose={close}
      >
        {texts.removeHelp(alone)}
      </ActionDialog>
    </Section>
  )
}
