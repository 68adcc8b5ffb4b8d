import { useForm } from '@mantine/form'
import { fieldFaultsOf } from '../api/client.ts'
import { patchSignInPolicy } from '../api/generated/sdk.gen.ts'
import type { SignInPolicy } from '../api/generated/types.gen.ts'
import { changedMembers } from '../kit/changed-members.ts'
import { MeanwhileBar, useMeanwhile } from '../kit/meanwhile.tsx'
import { PageForm } from '../kit/page-form.tsx'
import { Section } from '../kit/page.tsx'
import { useAction } from '../kit/use-action.ts'
import { Needs } from '../shell/needs.tsx'
import { useMay } from '../shell/session.ts'
import { BrandSection } from './brand-section.tsx'
import { MANAGE_PERMISSION, policyQuery } from './gate-queries.ts'
import { LadderInput } from './ladder-input.tsx'
import { KnowledgeSection, OutageSection, RegistrationSection } from './policy-sections.tsx'
import { toPolicyInput, toPolicyValues, type PolicyValues } from './policy-values.ts'
import { POLICY_WORDS } from './policy-words.ts'
import { texts } from './texts.ts'

const { policy: words } = texts

interface PolicyFormProps {
  readonly policy: SignInPolicy
  readonly groupName: string | undefined
}

export function PolicyForm({ policy, groupName }: PolicyFormProps) {
  const may = useMay(MANAGE_PERMISSION)
  const current = toPolicyValues(policy, groupName)
  const form = useForm<PolicyValues>({ initialValues: current })
  const meanwhile = useMeanwhile(form, current)
  const save = useAction({
    run: async (values: PolicyValues) => {
      const body = changedMembers(toPolicyInput(values), toPolicyInput(meanwhile.saved))
      return (await patchSignInPolicy({ body, throwOnError: true })).data
    },
    done: words.saved,
    changes: [policyQuery.queryKey],
    showsFailure: true,
    onDone: (after, sent) => meanwhile.settle(sent, toPolicyValues(after, sent.breakGlass?.label)),
  })
  const faults = fieldFaultsOf(save.error)
  const inputs = { form, faults, isDisabled: !may }
  return (
    <PageForm
      label={texts.save}
      isPending={save.isPending}
      isChanged={form.isDirty()}
      error={faults === null ? save.error : null}
      may={may}
      width={860}
      onCancel={() => form.setValues(meanwhile.saved)}
      onSubmit={form.onSubmit(meanwhile.whenDecided((values) => save.mutate(values)))}
    >
      <Needs permission={MANAGE_PERMISSION} />
      <MeanwhileBar meanwhile={meanwhile} words={POLICY_WORDS} />
      <Section title={words.fallbacks} lead={words.fallbacksLead}>
        <LadderInput
          value={form.getValues().fallbacks}
          onChange={(value) => form.setFieldValue('fallbacks', value)}
          isDisabled={!may}
        />
      </Section>
      <RegistrationSection {...inputs} />
      <OutageSection {...inputs} />
      <KnowledgeSection {...inputs} />
      <BrandSection {...inputs} />
    </PageForm>
  )
}
