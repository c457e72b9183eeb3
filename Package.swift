// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0
import PackageDescription

let house: [SwiftSetting] = [
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  // Elsewhere the C library's types are others, and so is what the compiler finds unsafe about them.
  .treatAllWarnings(as: .error, .when(platforms: [.linux])),
  .strictMemorySafety(),
]

// Who depends on the library alone gets, and even resolves, nothing of SwiftNIO and swift-argument-parser: what needs them is
// behind traits. In a clone all of it is built, so they are on there. SwiftPM reads the manifest of a dependency in a folder
// called `checkouts`, and before that out of the repository, where the folder is `/`.
let isClone = Context.packageDirectory != "/" && !Context.packageDirectory.contains("/checkouts/")

// Homebrew's libraries lie where only their pkg-config files lead to.
#if os(macOS)
  let isMacOS = true
#else
  let isMacOS = false
#endif

let testing: Set<String> = ["Testing", "Everything"]
let proxy: Set<String> = ["Proxy", "Everything"]
let configReader: Set<String> = ["ConfigReader", "Everything"]
let commands: Set<String> = ["Commands", "Everything"]

let package = Package(
  name: "DirectDNS",
  platforms: [.macOS(.v26)],
  products: [
    .library(name: "DirectDNS", targets: ["DirectDNS"]),
    .library(name: "DirectDNSConfiguration", targets: ["DirectDNSConfiguration"]),
    .library(name: "DirectDNSAsyncHTTPClient", targets: ["DirectDNSAsyncHTTPClient"]),
    .library(name: "DirectDNSConfigReader", targets: ["DirectDNSConfigReader"]),
    .library(name: "DirectDNSFoundation", targets: ["DirectDNSFoundation"]),
    .library(name: "DirectDNSSQLite", targets: ["DirectDNSSQLite"]),
    .library(name: "DirectDNSRedis", targets: ["DirectDNSRedis"]),
    .library(name: "DirectDNSPrometheus", targets: ["DirectDNSPrometheus"]),
    .library(name: "DirectDNSProxy", targets: ["DirectDNSProxy"]),
    .library(name: "DirectDNSTesting", targets: ["DirectDNSTesting"]),
    .executable(name: "dnsctl", targets: ["dnsctl"]),
    .executable(name: "dnsctl-proxy", targets: ["dnsctl-proxy"]),
  ],
  traits: [
    .trait(name: "Testing", description: "DirectDNSTesting: fake servers on SwiftNIO"),
    .trait(name: "Proxy", description: "DirectDNSProxy, on SwiftNIO"),
    .trait(name: "ConfigReader", description: "DirectDNSConfigReader: the configuration out of swift-configuration"),
    .trait(name: "Commands", description: "dnsctl, by swift-argument-parser"),
    // Not even in a clone: it takes minutes to build. Examples/AsyncHTTPClient turns it on.
    .trait(name: "AsyncHTTPClient", description: "DirectDNSAsyncHTTPClient: the same for users of AsyncHTTPClient"),
    // One, and not a list: SwiftPM gives the compiler the flags of several in an order that changes from run to run, and
    // then everything is compiled anew.
    .trait(name: "Everything", description: "all of these but AsyncHTTPClient, as in a clone"),
    .default(enabledTraits: isClone ? ["Everything"] : []),
  ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0", traits: []),
    .package(url: "https://github.com/apple/swift-collections", from: "1.6.0"),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
    .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
    .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.7.3"),
    .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
    // Behind traits, each wherever it is named below.
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
    .package(url: "https://github.com/apple/swift-configuration", from: "1.4.0", traits: []),
    .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
    .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.6"),
    .package(url: "https://github.com/apple/swift-nio-http2", from: "1.46.0"),
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
      name: "CDirectDNSOpenSSL", pkgConfig: "libcrypto",
      providers: [.apt(["libssl-dev"]), .brew(["openssl@3"])]),
    .systemLibrary(
      name: "CDirectDNSSQLite", pkgConfig: "sqlite3",
      providers: [.apt(["libsqlite3-dev"]), .brew(["sqlite"])]),
    // hiredis.pc has a flag that the package manager warns about on every build.
    .systemLibrary(
      name: "CDirectDNSHiredis", pkgConfig: isMacOS ? "hiredis" : nil,
      providers: [.apt(["libhiredis-dev", "libssl-dev"]), .brew(["hiredis", "openssl@3"])]),
    // crypt(3): passwords of the proxy's users. That of macOS knows DES alone.
    .systemLibrary(
      name: "CDirectDNSCrypt", pkgConfig: isMacOS ? "libxcrypt" : nil,
      providers: [.apt(["libcrypt-dev"]), .brew(["libxcrypt"])]),
    .systemLibrary(name: "CDirectDNSClock"),
    .systemLibrary(name: "CDirectDNSLoop"),
    .systemLibrary(name: "CDirectDNSFiles"),
    .systemLibrary(name: "CDirectDNSSockets"),
    .target(
      name: "DirectDNS",
      dependencies: [
        "CDirectDNSCurl", "CDirectDNSCares", "CDirectDNSIDN", "CDirectDNSPSL", "CDirectDNSOpenSSL", "CDirectDNSClock",
        "CDirectDNSFiles", "CDirectDNSLoop",
        .product(name: "DequeModule", package: "swift-collections"),
        .product(name: "HeapModule", package: "swift-collections"),
        .product(name: "HTTPTypes", package: "swift-http-types"),
        .product(name: "Logging", package: "swift-log"),
        .product(name: "CoreMetrics", package: "swift-metrics"),
        .product(name: "Tracing", package: "swift-distributed-tracing"),
        .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
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
      name: "DirectDNSAsyncHTTPClient",
      dependencies: [
        "DirectDNS", "CDirectDNSOpenSSL", .product(name: "HTTPTypes", package: "swift-http-types"),
        .product(name: "AsyncHTTPClient", package: "async-http-client", condition: .when(traits: ["AsyncHTTPClient"])),
        .product(name: "NIOCore", package: "swift-nio", condition: .when(traits: ["AsyncHTTPClient"])),
        .product(name: "NIOHTTP1", package: "swift-nio", condition: .when(traits: ["AsyncHTTPClient"])),
        .product(name: "NIOPosix", package: "swift-nio", condition: .when(traits: ["AsyncHTTPClient"])),
        .product(name: "NIOSSL", package: "swift-nio-ssl", condition: .when(traits: ["AsyncHTTPClient"])),
      ],
      swiftSettings: house),
    .target(
      name: "DirectDNSConfigReader",
      dependencies: [
        "DirectDNS", "DirectDNSConfiguration",
        .product(name: "Configuration", package: "swift-configuration", condition: .when(traits: configReader)),
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
        "DirectDNS", "CDirectDNSSockets",
        .product(name: "CoreMetrics", package: "swift-metrics"),
        .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
      ],
      swiftSettings: house),
    .target(
      name: "DirectDNSProxy",
      dependencies: [
        "DirectDNS", "CDirectDNSCrypt", "CDirectDNSLoop", "CDirectDNSSockets",
        .product(name: "CoreMetrics", package: "swift-metrics"),
        .product(name: "Logging", package: "swift-log"),
        .product(name: "NIOCore", package: "swift-nio", condition: .when(traits: proxy)),
        .product(name: "NIOPosix", package: "swift-nio", condition: .when(traits: proxy)),
        .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
        .product(name: "Tracing", package: "swift-distributed-tracing"),
      ],
      swiftSettings: house),
    .target(
      name: "DirectDNSTesting",
      dependencies: [
        "DirectDNS", "CDirectDNSOpenSSL",
        .product(name: "HTTPTypes", package: "swift-http-types"),
        .product(name: "NIOConcurrencyHelpers", package: "swift-nio", condition: .when(traits: testing)),
        .product(name: "NIOCore", package: "swift-nio", condition: .when(traits: testing)),
        .product(name: "NIOPosix", package: "swift-nio", condition: .when(traits: testing)),
        .product(name: "NIOHTTP1", package: "swift-nio", condition: .when(traits: testing)),
        .product(name: "NIOTLS", package: "swift-nio", condition: .when(traits: testing)),
        .product(name: "NIOSSL", package: "swift-nio-ssl", condition: .when(traits: testing)),
        .product(name: "NIOHTTP2", package: "swift-nio-http2", condition: .when(traits: testing)),
      ],
      swiftSettings: house),
    // Both programs' commands: dnsctl's own, and the options that its proxy has in common with them.
    .target(
      name: "DnsctlCommands",
      dependencies: [
        "DirectDNS", "DirectDNSConfiguration", "DirectDNSPrometheus", "DirectDNSSQLite", "DirectDNSRedis",
        "CDirectDNSLoop",
        .product(name: "ArgumentParser", package: "swift-argument-parser", condition: .when(traits: commands)),
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
        .product(name: "ArgumentParser", package: "swift-argument-parser", condition: .when(traits: commands)),
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
    // What Trust/promises measures.
    .executableTarget(
      name: "Promises",
      dependencies: [
        "DirectDNS", "DirectDNSSQLite", "DirectDNSTesting", .product(name: "HTTPTypes", package: "swift-http-types"),
      ],
      path: "Tests/Promises", swiftSettings: house),
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
      path: "Examples/Pipeline", exclude: ["directdns.json5", "hosts"], swiftSettings: house),
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
        .product(name: "HTTPTypes", package: "swift-http-types"),
        .product(name: "NIOCore", package: "swift-nio", condition: .when(traits: testing)),
        .product(name: "NIOPosix", package: "swift-nio", condition: .when(traits: testing)),
        .product(name: "NIOSSL", package: "swift-nio-ssl", condition: .when(traits: testing)),
      ],
      swiftSettings: house),
    .testTarget(
      name: "DirectDNSConfigurationTests",
      dependencies: [
        "DirectDNS", "DirectDNSConfiguration", "DirectDNSPrometheus", "DirectDNSTesting",
        .product(name: "CoreMetrics", package: "swift-metrics"),
        .product(name: "Logging", package: "swift-log"),
        .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
      ],
      swiftSettings: house),
    .testTarget(
      name: "DirectDNSConfigReaderTests",
      dependencies: [
        "DirectDNS", "DirectDNSConfiguration", "DirectDNSConfigReader",
        .product(name: "Configuration", package: "swift-configuration", condition: .when(traits: configReader)),
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
        "DirectDNS", "DirectDNSConfiguration", "DirectDNSPrometheus", "DirectDNSProxy", "DirectDNSTesting",
        "DnsctlCommands", "dnsctl-proxy",
        .product(name: "ArgumentParser", package: "swift-argument-parser", condition: .when(traits: commands)),
        .product(name: "CoreMetrics", package: "swift-metrics"),
        .product(name: "HTTPTypes", package: "swift-http-types"),
        .product(name: "InMemoryTracing", package: "swift-distributed-tracing"),
        .product(name: "Logging", package: "swift-log"),
        .product(name: "NIOCore", package: "swift-nio", condition: .when(traits: proxy)),
        .product(name: "NIOEmbedded", package: "swift-nio", condition: .when(traits: proxy)),
        .product(name: "NIOPosix", package: "swift-nio", condition: .when(traits: proxy)),
        .product(name: "Tracing", package: "swift-distributed-tracing"),
      ],
      swiftSettings: house),
    // What is fuzzed, run once over the seeds.
    .testTarget(
      name: "FuzzingTests",
      dependencies: [
        "DirectDNS", "DirectDNSConfiguration", "DirectDNSPrometheus", "DirectDNSProxy", "DirectDNSRedis",
        "DnsctlCommands", "CDirectDNSCares", "CDirectDNSCurl", "CDirectDNSHiredis",
        .product(name: "HTTPTypes", package: "swift-http-types"),
        .product(name: "NIOCore", package: "swift-nio", condition: .when(traits: proxy)),
      ],
      path: "Fuzzing", exclude: ["Driver", "Seeds", "README.md"], swiftSettings: house),
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
        .product(name: "ArgumentParser", package: "swift-argument-parser", condition: .when(traits: commands)),
        .product(name: "CoreMetrics", package: "swift-metrics"),
        .product(name: "HTTPTypes", package: "swift-http-types"),
      ],
      swiftSettings: house),
  ]
)

// Scripts/test --target and --except: where a part of the tests is wanted, building all of them takes minutes more.
func listed(_ variable: String) -> [String]? {
  Context.environment[variable]?.split(separator: ",").map(String.init)
}
if let wanted = listed("DIRECTDNS_TEST_TARGETS") {
  package.targets.removeAll { $0.type == .test && !wanted.contains($0.name) }
}
if let unwanted = listed("DIRECTDNS_TEST_TARGETS_EXCEPT") {
  package.targets.removeAll { $0.type == .test && unwanted.contains($0.name) }
}

// Scripts/fuzz: libFuzzer has a main function of its own, and the seeds' test reads the same sources.
if Context.environment["DIRECTDNS_FUZZING"] != nil,
  let seeds = package.targets.firstIndex(where: { $0.name == "FuzzingTests" })
{
  let seeds = package.targets.remove(at: seeds)
  package.targets.append(
    .executableTarget(
      name: "Fuzz", dependencies: seeds.dependencies, path: "Fuzzing", exclude: ["Tests", "Seeds", "README.md"],
      swiftSettings: house))
}
