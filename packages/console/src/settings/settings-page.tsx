/* The settings, as doors to their pages. */
import { SimpleGrid } from '@mantine/core'
import {
  CodeIcon,
  DatabaseIcon,
  OrganizationIcon,
  PeopleIcon,
  PersonIcon,
  ShieldLockIcon,
  SignInIcon,
  StackIcon,
  SyncIcon,
  type Icon,
} from '@primer/octicons-react'
import { Link } from '@tanstack/react-router'
import { Page } from '../kit/page.tsx'
import classes from './settings-page.module.css'
import { texts } from './texts.ts'

const DOORS: readonly { to: string; title: string; lead: string; icon: Icon }[] = [
  {
    to: '/settings/organisation',
    title: texts.organisation,
    lead: texts.organisationLead,
    icon: OrganizationIcon,
  },
  { to: '/settings/admins', title: texts.admins, lead: texts.adminsLead, icon: PeopleIcon },
  {
    to: '/settings/identity-provider',
    title: texts.provider,
    lead: texts.providerLead,
    icon: ShieldLockIcon,
  },
  { to: '/settings/sign-in', title: texts.signIn, lead: texts.signInLead, icon: SignInIcon },
  {
    to: '/settings/enrollment',
    title: texts.enrollment,
    lead: texts.enrollmentLead,
    icon: StackIcon,
  },
  {
    to: '/settings/developers',
    title: texts.developers,
    lead: texts.developersLead,
    icon: CodeIcon,
  },
  { to: '/settings/scim', title: texts.scim, lead: texts.scimLead, icon: SyncIcon },
  {
    to: '/settings/retention',
    title: texts.retention,
    lead: texts.retentionLead,
    icon: DatabaseIcon,
  },
  { to: '/settings/account', title: texts.account, lead: texts.accountLead, icon: PersonIcon },
]

export function SettingsPage() {
  return (
    <Page title={texts.title} lead={texts.lead}>
      <SimpleGrid cols={{ base: 1, sm: 2, lg: 3 }} spacing="md">
        {DOORS.map(({ to, title, lead, icon: Icon }) => (
          <Link key={to} to={to} className={classes.door}>
            <Icon size={20} />
            <span className={classes.title}>{title}</span>
            <span className={classes.lead}>{lead}</span>
          </Link>
        ))}
      </SimpleGrid>
    </Page>
  )
}
