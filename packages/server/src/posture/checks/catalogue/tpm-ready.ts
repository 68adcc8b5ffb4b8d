import type { CatalogueEntry } from './catalogue-entry.ts'
import { CONTROL_SET, registryDataSql, registryEntriesSql } from './registry-sql.ts'
import { verdictSql } from './verdict-sql.ts'

const TPM_DRIVER = String.raw`${CONTROL_SET}\Services\TPM`

// osquery answers no row both without a TPM and when Windows does not let it ask. How many chips the driver
// of Windows works with tells the two apart.
const windows = verdictSql({
  facts: {
    enabled: `SELECT enabled FROM tpm_info LIMIT 1`,
    activated: `SELECT activated FROM tpm_info LIMIT 1`,
    owned: `SELECT owned FROM tpm_info LIMIT 1`,
    version: `SELECT spec_version FROM tpm_info LIMIT 1`,
    driver_seen: registryEntriesSql(TPM_DRIVER),
    driver_devices: registryDataSql(`${TPM_DRIVER}\\Enum`, 'Count'),
  },
  cases: [
    ['PASS', `enabled = 1 AND activated = 1 AND owned = 1`],
    ['FAIL', `enabled = 0 OR activated = 0 OR owned = 0`],
    ['FAIL', `driver_seen > 0 AND CAST(COALESCE(driver_devices, '0') AS INTEGER) = 0`],
  ],
})

/** The PC has a security chip that Windows can use. */
export const tpmReady: CatalogueEntry = {
  slug: 'tpm-ready',
  name: 'TPM ready',
  description: 'The PC has a security chip (TPM), and Windows can use it.',
  issueTitle: 'The security chip (TPM) is missing or not ready',
  topics: ['data-protection'],
  tags: ['Info'],
  queries: { windows },
  rationaleTemplate: `The security chip keeps the keys of BitLocker and Windows Hello where nobody can copy them. Without it they lie on the disk, or are not used at all.`,
  fix: {
    windows: [
      'Open **Start**, type `tpm.msc` and open it.',
      'If it says **Compatible TPM cannot be found**, the chip is off: restart into the firmware settings (**Settings** > **System** > **Recovery** > **Advanced startup**) and switch on **TPM**, **PTT** (Intel) or **fTPM** (AMD).',
      'If it says that the TPM is not ready, choose **Prepare the TPM…** and restart.',
      'Before you choose **Clear TPM…**, make sure that you have your BitLocker recovery key: ask your IT team.',
    ],
  },
  privacyInfo: 'Whether a TPM is there and ready, and its version. No keys.',
  defaultStrategy: 'report_only',
  strategyReason: 'Some hardware lacks it, and firmware settings are not for every user.',
  shelfLife: 'software',
}
