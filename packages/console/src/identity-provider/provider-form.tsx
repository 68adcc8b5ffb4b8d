/* What the provider is set up with. Another issuer is asked about before it is saved. */
import { useForm } from '@mantine/form'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { fieldFaultsOf } from '../api/client.ts'
import type {
  AdminIdentityProvider,
  ChangeAdminIdentityProvider,
} from '../api/generated/types.gen.ts'
import { changedMembers } from '../kit/changed-members.ts'
import { ConfirmDialog } from '../kit/confirm.tsx'
import { MeanwhileBar, useMeanwhile, type FieldWords } from '../kit/meanwhile.tsx'
import { PageForm } from '../kit/page-form.tsx'
import { useAction } from '../kit/use-action.ts'
import { ClientSection } from './client-section.tsx'
import { GroupsSection } from './groups-section.tsx'
import {
  CHANGED,
  changeProvider,
  toInput,
  toValues,
  type ProviderValues,
} from './provider-calls.ts'
import { texts } from './texts.ts'

/** How the fields are told where another admin has changed them. */
const FIELD_WORDS: FieldWords<ProviderValues> = {
  name: { label: texts.name },
  issuer: { label: texts.issuer },
  client_id: { label: texts.clientId },
  client_secret: { label: texts.secret },
  group_claim: { label: texts.claim },
  full_access_groups: { label: texts.fullGroups },
  limited_access_groups: { label: texts.limitedGroups },
}

/** What is sent, and the values of the form that it was made of. */
interface Sent {
  readonly changes: ChangeAdminIdentityProvider
  readonly values: ProviderValues
}

export function ProviderForm({ setup }: { readonly setup: AdminIdentityProvider }) {
  const { provider } = setup
  const navigate = useNavigate()
  const current = toValues(provider)
  const form = useForm<ProviderValues>({ initialValues: current })
  const meanwhile = useMeanwhile(form, current)
  const [asked, setAsked] = useState<Sent>()
  const save = useAction({
    run: ({ changes }: Sent) => changeProvider(changes),
    done: texts.saved,
    changes: CHANGED,
    showsFailure: true,
    onDone: (after, { values }) => {
      meanwhile.settle(values, toValues(after.provider))
      setAsked(undefined)
    },
  })
  const submit = (values: ProviderValues) => {
    const input = toInput(values)
    const changes = provider === null ? input : changedMembers(input, toInput(meanwhile.saved))
    if (provider === null || changes.issuer === undefined) save.mutate({ changes, values })
    else setAsked({ changes: { ...changes, issuer_change_confirmed: true }, values })
  }
  const faults = fieldFaultsOf(save.error)
  const error = faults === null ? save.error : null
  return (
    <>
      <PageForm
        label={provider === null ? texts.setUp : texts.save}
        isPending={save.isPending}
        isChanged={form.isDirty()}
        error={asked === undefined ? error : null}
        width={760}
        onCancel={() => void navigate({ to: '/settings' })}
        onSubmit={form.onSubmit(meanwhile.whenDecided(submit))}
      >
        <MeanwhileBar meanwhile={meanwhile} words={FIELD_WORDS} />
        <ClientSection form={form} provider={provider} faults={faults} />
        <GroupsSection form={form} faults={faults} />
      </PageForm>
      <IssuerDialog
        setup={setup}
        isOpen={asked !== undefined}
        isPending={save.isPending}
        error={error}
        onConfirm={meanwhile.whenDecided(
          () => asked !== undefined && save.mutate(asked, { onError: closeForFields }),
          () => setAsked(undefined),
        )}
        onClose={() => setAsked(undefined)}
      />
    </>
  )

  /** What is wrong with an input is shown beside it. */
  function closeForFields(failure: Error): void {
    if (fieldFaultsOf(failure) !== null) setAsked(undefined)
  }
}

interface IssuerDialogProps {
  readonly setup: AdminIdentityProvider
  readonly isOpen: boolean
  readonly isPending: boolean
  readonly error: Error | null
  readonly onConfirm: () => void
  readonly onClose: () => void
}

function IssuerDialog({ setup, ...dialog }: IssuerDialogProps) {
  const { provider, bound_admins: bound, bound_admins_without_other_way: alone } = setup
  return (
    <ConfirmDialog
      {...dialog}
      title={texts.issuerTitle}
      label={texts.issuerLabel}
      isDanger={bound > 0}
    >
      {texts.issuerChanges(provider?.issuer ?? '', bound, alone)}
    </ConfirmDialog>
  )
}
