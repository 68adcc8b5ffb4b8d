import { flagRows } from './flag-rows.ts'
import type { DevicePerson } from './template-rows.ts'
import type { Platform } from '../platform.ts'
import { pick, randomHex, randomUuid } from '../random.ts'
import type { Random } from '../random.ts'
import type { TableRows } from '../sql/platform-database.ts'

interface Hardware {
  readonly vendor: string
  readonly model: string
  readonly cpu: string
  readonly cpuType: string
  readonly cores: number
  readonly memoryGib: number
}

const HARDWARE: Readonly<Record<Platform, readonly Hardware[]>> = {
  darwin: [
    {
      vendor: 'Apple Inc.',
      model: 'Mac16,1',
      cpu: 'Apple M4',
      cpuType: 'arm64e',
      cores: 10,
      memoryGib: 16,
    },
    {
      vendor: 'Apple Inc.',
      model: 'Mac15,3',
      cpu: 'Apple M3',
      cpuType: 'arm64e',
      cores: 8,
      memoryGib: 24,
    },
    {
      vendor: 'Apple Inc.',
      model: 'Mac14,2',
      cpu: 'Apple M2',
      cpuType: 'arm64e',
      cores: 8,
      memoryGib: 16,
    },
    {
      vendor: 'Apple Inc.',
      model: 'Mac16,6',
      cpu: 'Apple M4 Max',
      cpuType: 'arm64e',
      cores: 14,
      memoryGib: 36,
    },
  ],
  linux: [
    {
      vendor: 'LENOVO',
      model: '21MM000AGE',
      cpu: 'Intel(R) Core(TM) Ultra 7 155U',
      cpuType: 'x86_64',
      cores: 12,
      memoryGib: 32,
    },
    {
      vendor: 'Framework',
      model: 'Laptop 13 (AMD Ryzen AI 300 Series)',
      cpu: 'AMD Ryzen AI 7 350',
      cpuType: 'x86_64',
      cores: 8,
      memoryGib: 32,
    },
    {
      vendor: 'Dell Inc.',
      model: 'XPS 13 9350',
      cpu: 'Intel(R) Core(TM) Ultra 7 258V',
      cpuType: 'x86_64',
      cores: 8,
      memoryGib: 32,
    },
  ],
  windows: [
    {
      vendor: 'Dell Inc.',
      model: 'Latitude 7450',
      cpu: 'Intel(R) Core(TM) Ultra 5 135U',
      cpuType: 'x86_64',
      cores: 12,
      memoryGib: 16,
    },
    {
      vendor: 'HP',
      model: 'HP EliteBook 845 14 inch G11',
      cpu: 'AMD Ryzen 7 PRO 8840HS',
      cpuType: 'x86_64',
      cores: 8,
      memoryGib: 32,
    },
    {
      vendor: 'Microsoft Corporation',
      model: 'Surface Laptop, 7th Edition',
      cpu: 'Snapdragon X Elite',
      cpuType: 'ARM',
      cores: 12,
      memoryGib: 16,
    },
  ],
}

const HOST_KIND: Readonly<Record<Platform, string>> = {
  darwin: 'macbook',
  linux: 'laptop',
  windows: 'pc',
}

const INTERFACE: Readonly<Record<Platform, string>> = {
  darwin: 'en0',
  linux: 'wlp1s0',
  windows: '12',
}

const PLATFORM_MASK: Readonly<Record<Platform, number>> = { darwin: 21, linux: 9, windows: 2 }

/** What makes one device different from its neighbours. */
export interface DeviceIdentity {
  readonly uuid: string
  readonly hostname: string
  readonly serial: string
  readonly rows: TableRows
}

function networkRows(platform: Platform, ordinal: number, random: Random): TableRows {
  const mac = (randomHex(10, random).match(/../g) ?? []).join(':').toLowerCase()
  const name = INTERFACE[platform]
  const address = `10.${(ordinal >> 16) & 255}.${(ordinal >> 8) & 255}.${ordinal & 255}`
  return {
    interface_details: [
      {
        interface: name,
        mac: `02:${mac}`,
        type: 6,
        mtu: 1_500,
        metric: 0,
        flags: 4_163,
        ipackets: 1_204_332,
        opackets: 804_121,
      },
    ],
    interface_addresses: [
      { interface: name, address, mask: '255.0.0.0', broadcast: '10.255.255.255', type: 'dhcp' },
      {
        interface: platform === 'darwin' ? 'lo0' : 'lo',
        address: '127.0.0.1',
        mask: '255.0.0.0',
        type: 'manual',
      },
    ],
    routes: [
      {
        destination: '0.0.0.0',
        netmask: 0,
        gateway: '10.0.0.1',
        source: address,
        interface: name,
        metric: 100,
        type: 'gateway',
      },
    ],
  }
}

function systemInfo(uuid: string, hostname: string, serial: string, hardware: Hardware): TableRows {
  return {
    system_info: [
      {
        hostname,
        uuid,
        cpu_type: hardware.cpuType,
        cpu_subtype: hardware.cpuType,
        cpu_brand: hardware.cpu,
        cpu_physical_cores: hardware.cores,
        cpu_logical_cores: hardware.cores,
        cpu_sockets: 1,
        cpu_microcode: '',
        physical_memory: hardware.memoryGib * 1_073_741_824,
        hardware_vendor: hardware.vendor,
        hardware_model: hardware.model,
        hardware_version: '',
        hardware_serial: serial,
        board_vendor: hardware.vendor,
        board_model: '',
        board_version: '',
        board_serial: '',
        computer_name: hostname.split('.')[0] ?? hostname,
        local_hostname: hostname.split('.')[0] ?? hostname,
      },
    ],
    cpu_info: [
      {
        device_id: 'CPU0',
        model: hardware.cpu,
        manufacturer: hardware.vendor,
        processor_type: 'Central',
        number_of_cores: String(hardware.cores),
        logical_processors: hardware.cores,
        address_width: '64',
      },
    ],
  }
}

/** Invents a device for a person. `ordinal` numbers the devices of a fleet from 1. */
export function createDeviceIdentity(
  platform: Platform,
  person: DevicePerson,
  ordinal: number,
  random: Random,
): DeviceIdentity {
  const hardware = pick(HARDWARE[platform], random)
  const uuid = randomUuid(random)
  const serial = randomHex(10, random)
  const number = String(ordinal).padStart(4, '0')
  const hostname = `${person.username}-${HOST_KIND[platform]}-${number}.example.com`
  const agent = {
    pid: 501,
    uuid,
    instance_id: randomUuid(random).toLowerCase(),
    version: '5.23.1',
    config_hash: '',
    config_valid: 1,
    extensions: 'active',
    build_platform: platform,
    build_distro: '10.14',
    start_time: 1_790_000_000,
    watcher: 500,
    platform_mask: PLATFORM_MASK[platform],
  }
  const firmware = {
    vendor: hardware.vendor,
    version: '1.24.0',
    date: '02/11/2026',
    revision: '1.24',
  }
  return {
    uuid,
    hostname,
    serial,
    rows: {
      ...systemInfo(uuid, hostname, serial, hardware),
      ...networkRows(platform, ordinal, random),
      osquery_info: [agent],
      osquery_flags: flagRows(),
      // osquery has no platform_info rows on ARM machines.
      platform_info: hardware.cpuType === 'x86_64' ? [firmware] : [],
    },
  }
}
