// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

struct SystemPackagesTests {
  @Test func `the libraries tell their versions`() {
    let packages = SystemPackages()
    for version in [packages.curl, packages.cAres, packages.libidn2, packages.libpsl] {
      #expect(version.first?.isNumber == true && version.contains("."))
    }
    #expect(packages.tls?.contains("/") == true)
  }
}
