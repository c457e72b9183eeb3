// SPDX-License-Identifier: Apache-2.0
import ArgumentParser

/// The measured halves of `make bench`: each prints one line of figures, which the runner sets beside the floor's.
@main
struct Bench: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Measures DirectDNS in process.",
    subcommands: [CachedBench.self, ColdBench.self, WarmupBench.self, RequestBench.self, URLBench.self])
}
