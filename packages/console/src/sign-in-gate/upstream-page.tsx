/* An upstream provider: set up, checked, changed and removed. */
import { Alert, Button, Text } from '@mantine/core'
import { CheckCircleIcon } from '@primer/octicons-react'
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import {
  deleteSignInUpstreamProvidersById,
  patchSignInUpstreamProvidersById,
  postSignInUpstreamProviders,
  postSignInUpstreamProvidersByIdCheck,
} from '../api/generated/sdk.gen.ts'
import type {
  CreateSignInUpstreamProviderInput,
  SignInUpstreamProvider,
  UpdateSignInUpstreamProviderInput,
} from '../api/generated/types.gen.ts'
import { ConfirmDialog, Fault } from '../kit/confirm.tsx'
import { Copyable } from '../kit/copyable.tsx'
import { Facts, Page, Section } from '../kit/page.tsx'
import { Loaded } from '../kit/states.tsx'
import { useAction } from '../kit/use-action.ts'
import { useMay } from '../shell/session.ts'
import { MANAGE_PERMISSION, upstreamQuery } from './gate-queries.ts'
import { texts } from './texts.ts'
import { UpstreamForm } from './upstream-form.tsx'

const { upstreams: words } = texts
const LIST_PATH = '/settings/sign-in/upstream-providers'
const ABOVE = [
  { label: texts.settings, to: '/settings' },
  { label: words.title, to: LIST_PATH },
]

export function NewUpstreamPage() {
  const navigate = useNavigate()
  const create = useAction({
    run: async (body: CreateSignInUpstreamProviderInput) =>
      (await postSignInUpstreamProviders({ body, throwOnError: true })).data,
    done: ({ name }) => words.created(name),
    changes: [['sign_in_upstream_providers']],
    showsFailure: true,
    onDone: ({ id }) =>
      void navigate({ to: '/settings/sign-in/upstream-providers/$id', params: { id } }),
  })
  return (
    <Page title={words.newTitle} lead={words.newLead} above={ABOVE}>
      <AtProvider redirectUri={`${location.origin}/sign-in/upstream/callback`} />
      <UpstreamForm
        label={words.create}
        isPending={create.isPending}
        error={create.error}
        onSubmit={create.mutate}
        onCancel={() => void navigate({ to: LIST_PATH })}
      />
    </Page>
  )
}

function AtProvider({ redirectUri }: { readonly redirectUri: string }) {
  return (
    <Section title={words.atProvider} lead={words.atProviderLead}>
      <Facts
        facts={[[words.redirectUri, <Copyable key="redirect" value={redirectUri} isWhole />]]}
      />
    </Section>
  )
}

export function UpstreamPage() {
  const { id } = useParams({ from: '/frame/settings/sign-in/upstream-providers/$id' })
  const query = useQuery(upstreamQuery(id))
  return (
    <Loaded query={query}>{(provider) => <LoadedUpstream key={id} provider={provider} />}</Loaded>
  )
}

function LoadedUpstream({ provider }: { readonly provider: SignInUpstreamProvider }) {
  const { id, name } = provider
  const navigate = useNavigate()
  const may = useMay(MANAGE_PERMISSION)
  const [isRemoving, setRemoving] = useState(false)
  const save = useAction({
    run: async (body: UpdateSignInUpstreamProviderInput) =>
      (await patchSignInUpstreamProvidersById({ path: { id }, body, throwOnError: true })).data,
    done: texts.saved,
    changes: [['sign_in_upstream_providers']],
    showsFailure: true,
  })
  const remove = useAction({
    run: () => deleteSignInUpstreamProvidersById({ path: { id }, throwOnError: true }),
    done: words.removed(name),
    changes: [['sign_in_upstream_providers', 'list']],
    showsFailure: true,
    onDone: () => void navigate({ to: LIST_PATH }),
  })
  return (
    <Page
      title={name}
      lead={words.lead}
      above={ABOVE}
      actions={
        <Button variant="default" disabled={!may} onClick={() => setRemoving(true)}>
          {words.remove}
        </Button>
      }
    >
      <Check id={id} may={may} />
      <AtProvider redirectUri={provider.redirect_uri} />
      <UpstreamForm
        provider={provider}
        label={texts.save}
        isPending={save.isPending}
        error={save.error}
        onSubmit={(changes, onSuccess) => save.mutate(changes, { onSuccess })}
        onCancel={() => void navigate({ to: LIST_PATH })}
      />
      <ConfirmDialog
        isOpen={isRemoving}
        title={words.removeTitle(name)}
        label={words.remove}
        isDanger
        isPending={remove.isPending}
        error={remove.error}
        onConfirm={() => remove.mutate()}
        onClose={() => setRemoving(false)}
      >
        {words.removeHelp}
      </ConfirmDialog>
    </Page>
  )
}

function Check({ id, may }: { readonly id: string; readonly may: boolean }) {
  const check = useAction({
    run: async () =>
      (await postSignInUpstreamProvidersByIdCheck({ path: { id }, throwOnError: true })).data,
    changes: [],
    showsFailure: true,
  })
  const problems = check.data?.problems
  return (
    <Section
      title={words.check}
      lead={words.checkLead}
      actions={
        <Button
          variant="default"
          disabled={!may}
          loading={check.isPending}
          onClick={() => check.mutate()}
        >
          {words.checkNow}
        </Button>
      }
    >
      {problems === undefined ? (
        <Text size="sm" c="dimmed">
          {words.notChecked}
        </Text>
      ) : problems.length === 0 ? (
        <Alert color="green" icon={<CheckCircleIcon />} role="status" p="xs">
          {words.fits(check.data?.signatures.join(', ') ?? '')}
        </Alert>
      ) : (
        problems.map(({ field, message }) => (
          <Fault key={field} error={new Error(`${words.fieldNames[field]}: ${message}`)} />
        ))
      )}
      <Fault error={check.error} />
    </Section>
  )
}
