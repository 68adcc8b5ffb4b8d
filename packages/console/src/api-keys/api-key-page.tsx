/* One API key: its secret, what it may do, and its end. */
import { Button, Select } from '@mantine/core'
import { PencilIcon, SyncIcon, XCircleIcon } from '@primer/octicons-react'
import { queryOptions, useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import {
  deleteApiKeysById,
  getApiKeysById,
  postApiKeysByIdReveal,
  postApiKeysByIdRotate,
} from '../api/generated/sdk.gen.ts'
import type { ApiKey, ApiKeyWithSecret } from '../api/generated/types.gen.ts'
import { ActionDialog } from '../kit/confirm.tsx'
import { Facts, Page, Section } from '../kit/page.tsx'
import { IssuedSecretDialog, RevealedSecret } from '../kit/secret.tsx'
import { Loaded } from '../kit/states.tsx'
import { Time } from '../kit/time.tsx'
import { useMay } from '../shell/session.ts'
import { KeyDialog } from './key-dialog.tsx'
import { KeyState } from './key-state.tsx'
import { PermissionUse } from './permission-use.tsx'
import { texts } from './texts.ts'

type Dialog = 'edit' | 'rotate' | 'revoke' | undefined

const apiKeyQuery = (id: string) =>
  queryOptions({
    queryKey: ['api_keys', id],
    queryFn: async ({ signal }) =>
      (await getApiKeysById({ path: { id }, signal, throwOnError: true })).data,
  })

export function ApiKeyPage() {
  const { id } = useParams({ from: '/frame/settings/api-keys/$id' })
  const query = useQuery(apiKeyQuery(id))
  return <Loaded query={query}>{(key) => <KeyDetails key={id} apiKey={key} />}</Loaded>
}

function KeyDetails({ apiKey }: { readonly apiKey: ApiKey }) {
  const [dialog, setDialog] = useState<Dialog>()
  const mayManage = useMay('Manage API Keys')
  const isLive = apiKey.state === 'live'
  const close = () => setDialog(undefined)
  return (
    <Page
      title={apiKey.name}
      above={[
        { label: texts.developers, to: '/settings/developers' },
        { label: texts.title, to: '/settings/developers/api-keys' },
      ]}
      badge={<KeyState state={apiKey.state} />}
      actions={
        isLive && mayManage ? (
          <>
            <Button
              variant="default"
              leftSection={<PencilIcon />}
              onClick={() => setDialog('edit')}
            >
              {texts.edit}
            </Button>
            <Button
              variant="default"
              leftSection={<SyncIcon />}
              onClick={() => setDialog('rotate')}
            >
              {texts.rotate}
            </Button>
            <Button
              variant="default"
              leftSection={<XCircleIcon />}
              onClick={() => setDialog('revoke')}
            >
              {texts.revoke}
            </Button>
          </>
        ) : undefined
      }
    >
      {isLive ? (
        <Section title={texts.secret}>
          <RevealedSecret
            name={`${texts.secret} ${apiKey.name}`}
            lastFour={apiKey.secret_last_four}
            asksReason
            refusal={mayManage ? undefined : texts.mayNot}
            reveal={async (reason) =>
              (
                await postApiKeysByIdReveal({
                  path: { id: apiKey.id },
                  body: { reason },
                  throwOnError: true,
                })
              ).data.secret
            }
          />
        </Section>
      ) : null}
      <Section title={texts.what}>
        {apiKey.permissions.length === 0 ? (
          texts.reads
        ) : (
          <Facts
            facts={apiKey.permissions.map(({ permission, rationale }) => [permission, rationale])}
          />
        )}
      </Section>
      <PermissionUse apiKey={apiKey} />
      <Section title={texts.about}>
        <Facts facts={factsOf(apiKey)} />
      </Section>
      <KeyDialog isOpen={dialog === 'edit'} apiKey={apiKey} onClose={close} />
      <RotateDialog apiKey={apiKey} isOpen={dialog === 'rotate'} onClose={close} />
      <RevokeDialog apiKey={apiKey} isOpen={dialog === 'revoke'} onClose={close} />
    </Page>
  )
}

function factsOf(apiKey: ApiKey): [string, React.ReactNode][] {
  return [
    [texts.responsible, apiKey.responsible_email ?? '–'],
    [texts.lastUsed, <Time key="used" at={apiKey.last_used_at} />],
    [texts.created, <Time key="created" at={apiKey.created_at} isExact />],
    [texts.expires, <Time key="expires" at={apiKey.expires_at} isExact />],
    ...(apiKey.revoked_at === null
      ? []
      : [
          [texts.revoked, <Time key="revoked" at={apiKey.revoked_at} isExact />] as [
            string,
            React.ReactNode,
          ],
        ]),
    ...(apiKey.rotated_from_id === null
      ? []
      : [
          [texts.replaces, <ReplacedKey key="from" id={apiKey.rotated_from_id} />] as [
            string,
            React.ReactNode,
          ],
        ]),
  ]
}

/** A key that was rotated kept its name; the id tells the two apart. */
function ReplacedKey({ id }: { readonly id: string }) {
  const { data } = useQuery(apiKeyQuery(id))
  return (
    <Link to="/settings/api-keys/$id" params={{ id }}>
      {data === undefined ? id : `${data.name} (${id})`}
    </Link>
  )
}

interface KeyActionProps {
  readonly apiKey: ApiKey
  readonly isOpen: boolean
  readonly onClose: () => void
}

function RotateDialog({ apiKey, isOpen, onClose }: KeyActionProps) {
  const navigate = useNavigate()
  const [overlap, setOverlap] = useState('86400')
  const [issued, setIssued] = useState<ApiKeyWithSecret>()
  return (
    <>
      <ActionDialog
        isOpen={isOpen}
        title={texts.rotateTitle(apiKey.name)}
        label={texts.rotate}
        run={async () =>
          (
            await postApiKeysByIdRotate({
              path: { id: apiKey.id },
              body: { overlap_seconds: Number(overlap) },
              throwOnError: true,
            })
          ).data
        }
        done={texts.rotated}
        changes={[['api_keys']]}
        onDone={setIssued}
        onClose={onClose}
      >
        {texts.rotateHelp}
        <Select
          mt="sm"
          label={texts.overlap}
          data={Object.entries(texts.overlaps).map(([value, label]) => ({ value, label }))}
          value={overlap}
          onChange={(next) => setOverlap(next ?? overlap)}
          allowDeselect={false}
        />
      </ActionDialog>
      <IssuedSecretDialog
        title={texts.issuedTitle(apiKey.name)}
        secrets={issued === undefined ? [] : [{ name: issued.name, value: issued.secret }]}
        isKept
        onClose={() => {
          if (issued !== undefined) {
            void navigate({ to: '/settings/api-keys/$id', params: { id: issued.id } })
          }
          setIssued(undefined)
        }}
      >
        {texts.issued}
      </IssuedSecretDialog>
    </>
  )
}

function RevokeDialog({ apiKey, isOpen, onClose }: KeyActionProps) {
  return (
    <ActionDialog
      isOpen={isOpen}
      title={texts.revokeTitle(apiKey.name)}
      label={texts.revokeLabel}
      isDanger
      run={() => deleteApiKeysById({ path: { id: apiKey.id }, throwOnError: true })}
      done={texts.wasRevoked}
      changes={[['api_keys']]}
      onClose={onClose}
    >
      {texts.revokeHelp}
    </ActionDialog>
  )
}
