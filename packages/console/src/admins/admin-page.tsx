/* One admin: what it may do, how it signs in, and where it is signed in. */
import { Button, Text } from '@mantine/core'
import { PencilIcon } from '@primer/octicons-react'
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useParams } from '@tanstack/react-router'
import { useState, type ReactNode } from 'react'
import { getAdminUsersById } from '../api/generated/sdk.gen.ts'
import type { AdminUser } from '../api/generated/types.gen.ts'
import { LoadedPage } from '../kit/loaded-page.tsx'
import { Facts, Page, Section } from '../kit/page.tsx'
import { Time } from '../kit/time.tsx'
import { useMay } from '../shell/session.ts'
import { restrictionsOf } from './admin-access.tsx'
import { AdminDialogs, type AdminDialog } from './admin-dialogs.tsx'
import { AdminMenu } from './admin-menu.tsx'
import { AdminSessions } from './admin-sessions.tsx'
import { AdminState, nameOf, waysOf } from './admin-state.tsx'
import { texts } from './texts.ts'

const ABOVE = [
  { label: texts.settings, to: '/settings' },
  { label: texts.title, to: '/settings/admins' },
] as const

export function AdminPage() {
  const { id } = useParams({ from: '/frame/settings/admins/$id' })
  const query = useQuery({
    queryKey: ['admin_users', id],
    queryFn: async ({ signal }) =>
      (await getAdminUsersById({ path: { id }, signal, throwOnError: true })).data,
  })
  return (
    <LoadedPage query={query} title={texts.title} above={ABOVE}>
      {(admin) => <AdminDetails key={id} admin={admin} />}
    </LoadedPage>
  )
}

function AdminDetails({ admin }: { readonly admin: AdminUser }) {
  const navigate = useNavigate()
  const mayManage = useMay('Manage Admins')
  const [dialog, setDialog] = useState<AdminDialog>()
  return (
    <Page
      title={nameOf(admin)}
      above={ABOVE}
      badge={<AdminState admin={admin} />}
      actions={
        <>
          <Button
            variant="default"
            leftSection={<PencilIcon />}
            disabled={!mayManage}
            title={mayManage ? undefined : texts.mayNot}
            onClick={() => setDialog('change')}
          >
            {texts.change}
          </Button>
          <AdminMenu admin={admin} onChoose={(_, chosen) => setDialog(chosen)} />
        </>
      }
    >
      <Section title={texts.what}>
        <AccessTold admin={admin} />
      </Section>
      <Section title={texts.about}>
        <Facts facts={factsOf(admin)} />
      </Section>
      <AdminSessions admin={admin} />
      <AdminDialogs
        admin={admin}
        dialog={dialog}
        onClose={() => setDialog(undefined)}
        onRemoved={() => void navigate({ to: '/settings/admins' })}
      />
    </Page>
  )
}

function AccessTold({ admin }: { readonly admin: AdminUser }) {
  const { access } = admin
  const restrictions = restrictionsOf(admin)
  return (
    <>
      <strong>{texts.levels[access]}</strong>
      <Text size="sm" c="dimmed" mb={restrictions.length === 0 ? 0 : 'sm'}>
        {texts.levelHelp[access]}
      </Text>
      {restrictions.length === 0 ? null : (
        <Facts
          facts={restrictions.map((name) => [
            texts.restrictionNames[name],
            texts.restrictionHelp[name],
          ])}
        />
      )}
    </>
  )
}

function factsOf(admin: AdminUser): [string, ReactNode][] {
  const { deactivated_at: out } = admin
  return [
    [texts.email, admin.email],
    [texts.ways, waysOf(admin)],
    [texts.lastSignIn, <Time key="in" at={admin.last_sign_in_at} />],
    [
      texts.invitedUntil,
      <Time key="invited" at={admin.invited_until} absent={texts.notInvited} isExact />,
    ],
    [texts.since, <Time key="since" at={admin.created_at} isExact />],
    ...(out === null
      ? []
      : [
          [texts.deactivatedSince, <Time key="out" at={out} isExact />] satisfies [
            string,
            ReactNode,
          ],
        ]),
  ]
}
