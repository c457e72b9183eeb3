// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0
import PackageDescription

let house: [SwiftSetting] = [
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .treatAllWarnings(as: .error),
  .strictMemorySafety(),
]

let package = Package(
  name: "DirectDNS",
  platforms: [.macOS(.v26)],
  products: [
    .library(name: "DirectDNS", targets: ["DirectDNS"]),
    .library(name: "DirectDNSConfiguration", targets: ["DirectDNSConfiguration"]),
    .library(name: "DirectDNSFoundation", targets: ["DirectDNSFoundation"]),
    .library(name: "DirectDNSSQLite", targets: ["DirectDNSSQLite"]),
    .library(name: "DirectDNSRedis", targets: ["DirectDNSRedis"]),
    .library(name: "DirectDNSPrometheus", targets: ["DirectDNSPrometheus"]),
    .library(name: "DirectDNSProxy", targets: ["DirectDNSProxy"]),
    .library(name: "DirectDNSTesting", targets: ["DirectDNSTesting"]),
    .executable(name: "dnsctl", targets: ["dnsctl"]),
    .executable(name: "dnsctl-proxy", targets: ["dnsctl-proxy"]),
    .executable(name: "ConformanceDriver", targets: ["ConformanceDriver"]),
    .executable(name: "Demo", targets: ["Demo"]),
  ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0", traits: []),
    .package(url: "https://github.com/apple/swift-collections", from: "1.6.0"),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
    .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
    .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.7.3"),
    .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
    .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    // DirectDNSTesting and DirectDNSProxy alone (the proxy needs swift-nio): nothing that the library or dnsctl links.
    .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
    .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.6"),
    .package(url: "https://github.com/apple/swift-nio-http2", from: "1.46.0"),
    .package(url: "https://github.com/apple/swift-certificates", from: "1.21.1"),
    .package(url: "https://github.com/apple/swift-asn1", from: "1.7.4"),
  ],
  targets: [
    .systemLibrary(
      name: "CDirectDNSCurl", pkgConfig: "libcurl",
      providers: [.apt(["libcurl4-openssl-dev"]), .brew(["curl"])]),
    .systemLibrary(
      name: "CDirectDNSCares", pkgConfig: "libcares",
      providers: [.apt(["libc-ares-dev"]), .brew(["c-ares"])]),
    .systemLibrary(
      name: "CDirectDNSIDN", pkgConfig: "libidn2",
      providers: [.apt(["libidn2-dev"]), .brew(["libidn2"])]),
    .systemLibrary(
      name: "CDirectDNSPSL", pkgConfig: "libpsl",
      providers: [.apt(["libpsl-dev"]), .brew(["libpsl"])]),
    .systemLibrary(
      name: "CDirectDNSSQLite", pkgConfig: "sqlite3",
      providers: [.apt(["libsqlite3-dev"]), .brew(["sqlite"])]),
    // No pkgConfig: hiredis.pc has a flag that the package manager warns about on every build.
    .systemLibrary(name: "CDirectDNSHiredis", providers: [.apt(["libhiredis-dev"]), .brew(["hiredis"])]),
    // crypt(3): passwords of the proxy's users.
    .systemLibrary(name: "CDirectDNSCrypt", providers: [.apt(["libcrypt-dev"])]),
    .systemLibrary(name: "CDirectDNSClock"),
    .systemLibrary(name: "CDirectDNSFiles"),
    .target(
      name: "DirectDNS",
      dependencies: [
        "CDirectDNSCurl", "CDirectDNSCares", "CDirectDNSIDN", "CDirectDNSPSL", "CDirectDNSClock", "CDirectDNSFiles",
        .product(name: "DequeModule", package: "swift-collections"),
        .product(name: "HeapModule", package: "swift-collections"),
        .product(name: "HTTPTypes", package: "swift-http-types"),
        .product(name: "Logging", package: "swift-log"),
        .product(name: "CoreMetrics", package: "swift-metrics"),
        .product(name: "Tracing", package: "swift-distributed-tracing"),
        .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
        .product(name: "Crypto", package: "swift-crypto"),
      ],
      swiftSettings: house),
    .target(
      name: "DirectDNSConfiguration",
      dependencies: [
        "DirectDNS",
        .product(name: "Logging", package: "swift-log"),
        .product(name: "CoreMetrics", package: "swift-metrics"),
        .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
        .product(name: "UnixSignals", package: "swift-service-lifecycle"),
      ],
      swiftSettings: house),
    .target(
      name: "DirectDNSFoundation",
      dependencies: ["DirectDNS", .product(name: "HTTPTypes", package: "swift-http-types")],
      swiftSettings: house),
    .target(
      name: "DirectDNSSQLite",
      dependencies: ["DirectDNS", "CDirectDNSSQLite", .product(name: "Logging", package: "swift-log")],
      swiftSettings: house),
    .target(name: "DirectDNSRedis", dependencies: ["DirectDNS", "CDirectDNSHiredis"], swiftSettings: house),
    .target(
      name: "DirectDNSPrometheus",
      dependencies: [
        "DirectDNS",
        .product(name: "CoreMetrics", package: "swift-metrics"),
        .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
      ],
      swiftSettings: house),
    .target(
      name: "DirectDNSProxy",
      dependencies: [
        "DirectDNS", "CDirectDNSCrypt",
        .product(name: "CoreMetrics", package: "swift-metrics"),
        .product(name: "Crypto", package: "swift-crypto"),
        .product(name: "Logging", package: "swift-log"),
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOPosix", package: "swift-nio"),
        .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
      ],
      swiftSettings: house),
    .target(
      name: "DirectDNSTesting",
      dependencies: [
        "DirectDNS",
        .product(name: "HTTPTypes", package: "swift-http-types"),
        .product(name: "Crypto", package: "swift-crypto"),
        .product(name: "CryptoExtras", package: "swift-crypto"),
        .product(name: "NIOConcurrencyHelpers", package: "swift-nio"),
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOPosix", package: "swift-nio"),
        .product(name: "NIOHTTP1", package: "swift-nio"),
        .product(name: "NIOTLS", package: "swift-nio"),
        .product(name: "NIOSSL", package: "swift-nio-ssl"),
        .product(name: "NIOHTTP2", package: "swift-nio-http2"),
        .product(name: "X509", package: "swift-certificates"),
        .product(name: "SwiftASN1", package: "swift-asn1"),
      ],
      swiftSettings: house),
    // Both programs' commands: dnsctl's own, and the options that its proxy has in common with them.
    .target(
      name: "DnsctlCommands",
      dependencies: [
        "DirectDNS", "DirectDNSConfiguration", "DirectDNSPrometheus", "DirectDNSSQLite", "DirectDNSRedis",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
        .product(name: "HTTPTypes", package: "swift-http-types"),
        .product(name: "Logging", package: "swift-log"),
        .product(name: "CoreMetrics", package: "swift-metrics"),
      ],
      swiftSettings: house),
    .executableTarget(name: "dnsctl", dependencies: ["DnsctlCommands"], swiftSettings: house),
    // A program of its own, which `dnsctl proxy` starts: SwiftNIO would make every start of dnsctl slower.
    .executableTarget(
      name: "dnsctl-proxy",
      dependencies: [
        "DnsctlCommands", "DirectDNS", "DirectDNSConfiguration", "DirectDNSPrometheus", "DirectDNSProxy",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
        .product(name: "UnixSignals", package: "swift-service-lifecycle"),
      ],
      swiftSettings: house),
    .executableTarget(
      name: "ConformanceDriver",
      dependencies: [
        "DirectDNS", "DirectDNSProxy", "DirectDNSSQLite", .product(name: "HTTPTypes", package: "swift-http-types"),
      ],
      path: "Tests/ConformanceDriver", swiftSettings: house),
    .executableTarget(
      name: "StoreMember", dependencies: ["DirectDNS", "DirectDNSSQLite", "DirectDNSRedis", "DirectDNSTesting"],
      path: "Tests/StoreMember", swiftSettings: house),
    .executableTarget(
      name: "Demo",
      dependencies: [
        "DirectDNS", "DirectDNSFoundation", "DirectDNSTesting",
        .product(name: "HTTPTypes", package: "swift-http-types"),
      ],
      path: "Examples/Demo", swiftSettings: house),
    .executableTarget(
      name: "Resolve", dependencies: ["DirectDNS"], path: "Examples/Resolve", swiftSettings: house),
    .executableTarget(
      name: "Send",
      dependencies: ["DirectDNS", .product(name: "HTTPTypes", package: "swift-http-types")], path: "Examples/Send",
      swiftSettings: house),
    .executableTarget(
      name: "Pipeline",
      dependencies: [
        "DirectDNS", "DirectDNSConfiguration", "DirectDNSPrometheus", "DirectDNSSQLite",
        .product(name: "CoreMetrics", package: "swift-metrics"),
        .product(name: "HTTPTypes", package: "swift-http-types"),
        .product(name: "Logging", package: "swift-log"),
        .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
        .product(name: "UnixSignals", package: "swift-service-lifecycle"),
      ],
      path: "Examples/Pipeline", swiftSettings: house),
    .testTarget(
      name: "PipelineTests",
      dependencies: [
        "DirectDNS", "DirectDNSFoundation", "DirectDNSTesting",
        .product(name: "HTTPTypes", package: "swift-http-types"),
      ],
      path: "Examples/PipelineTests", swiftSettings: house),
    .testTarget(
      name: "DirectDNSTests",
      dependencies: [
        "DirectDNS", "DirectDNSTesting", "CDirectDNSCurl",
        .product(name: "HTTPTypes", package: "swift-http-types"),
        .product(name: "Logging", package: "swift-log"),
        .product(name: "CoreMetrics", package: "swift-metrics"),
        .product(name: "Tracing", package: "swift-distributed-tracing"),
        .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
      ],
      swiftSettings: house),
    .testTarget(
      name: "DirectDNSTestingTests",
      dependencies: [
        "DirectDNS", "DirectDNSTesting",
        .product(name: "Crypto", package: "swift-crypto"),
        .product(name: "HTTPTypes", package: "swift-http-types"),
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOPosix", package: "swift-nio"),
        .product(name: "NIOSSL", package: "swift-nio-ssl"),
      ],
      swiftSettings: house),
    .testTarget(
      name: "DirectDNSConfigurationTests",
      dependencies: [
        "DirectDNS", "DirectDNSConfiguration", "DirectDNSTesting",
        .product(name: "Logging", package: "swift-log"),
        .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
      ],
      swiftSettings: house),
    .testTarget(
      name: "DirectDNSFoundationTests",
      dependencies: [
        "DirectDNS", "DirectDNSFoundation", "DirectDNSTesting",
        .product(name: "HTTPTypes", package: "swift-http-types"),
      ],
      swiftSettings: house),
    .testTarget(
      name: "DirectDNSSQLiteTests", dependencies: ["DirectDNS", "DirectDNSSQLite", "DirectDNSTesting"],
      swiftSettings: house),
    .testTarget(
      name: "DirectDNSRedisTests", dependencies: ["DirectDNS", "DirectDNSRedis", "DirectDNSTesting"],
      swiftSettings: house),
    .testTarget(
      name: "DirectDNSPrometheusTests",
      dependencies: [
        "DirectDNS", "DirectDNSPrometheus",
        .product(name: "CoreMetrics", package: "swift-metrics"),
        .product(name: "HTTPTypes", package: "swift-http-types"),
        .product(name: "Logging", package: "swift-log"),
        .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
      ],
      swiftSettings: house),
    .testTarget(
      name: "DirectDNSProxyTests",
      dependencies: [
        "DirectDNS", "DirectDNSProxy", "DirectDNSTesting", "dnsctl-proxy",
        .product(name: "HTTPTypes", package: "swift-http-types"),
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOPosix", package: "swift-nio"),
      ],
      swiftSettings: house),
    .testTarget(name: "HouseTests", swiftSettings: house),
    .testTarget(
      name: "IntegrationTests",
      dependencies: [
        "DirectDNS", "DirectDNSFoundation", "DirectDNSSQLite", "DirectDNSRedis", "DirectDNSTesting", "StoreMember",
        "Pipeline", "Resolve", "Send", "Demo", "dnsctl", "dnsctl-proxy",
        .product(name: "HTTPTypes", package: "swift-http-types"),
      ],
      swiftSettings: house),
    .testTarget(
      name: "DnsctlTests",
      dependencies: [
        "DnsctlCommands", "DirectDNS", "DirectDNSConfiguration", "DirectDNSPrometheus", "DirectDNSSQLite",
        "DirectDNSRedis", "DirectDNSTesting",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
        .product(name: "CoreMetrics", package: "swift-metrics"),
        .product(name: "HTTPTypes", package: "swift-http-types"),
      ],
      swiftSettings: house),
  ]
)

// Scripts/test --target: where a few test targets are wanted, building all of them takes minutes more.
if let wanted = Context.environment["DIRECTDNS_TEST_TARGETS"]?.split(separator: ",").map(String.init) {
  package.targets.removeAll { $0.type == .test && !wanted.contains($0.name) }
}
