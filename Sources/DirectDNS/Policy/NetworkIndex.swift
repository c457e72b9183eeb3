// SPDX-License-Identifier: Apache-2.0
/// Finds the most specific network of a fixed list, in a few steps and without an allocation.
///
/// The networks are cut into ranges that do not overlap, each of which belongs to one network or to none, so that a
/// binary search finds the answer.
struct NetworkIndex: Sendable {
  /// The first address of each range, in ascending order; the first range begins at 0.
  private let starts: [UInt128]
  /// The place in the list of the network that owns the range; -1 for none.
  private let owners: [Int]

  /// Indexes networks of one family.
  init(_ networks: [IPNetwork]) {
    var starts: Set<UInt128> = [0]
    for network in networks {
      starts.insert(network.address.value)
      let (next, overflow) = network.lastAddress.value.addingReportingOverflow(1)
      if !overflow { starts.insert(next) }
    }
    self.starts = starts.sorted()
    owners = self.starts.map { start in
      let around = networks.indices.filter {
        networks[$0].address.value <= start && start <= networks[$0].lastAddress.value
      }
      return around.max { networks[$0].prefixLength < networks[$1].prefixLength } ?? -1
    }
  }

  /// The place in the list of the most specific network around an address of that family.
  func mostSpecific(around address: IPAddress) -> Int? {
    let value = address.value
    var low = 0
    var high = starts.count
    while high - low > 1 {
      let middle = (low + high) / 2
      if starts[middle] <= value { low = middle } else { high = middle }
    }
    let owner = owners[low]
    return owner < 0 ? nil : owner
  }
}
