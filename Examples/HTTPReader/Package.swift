// swift-tools-version: 6.2
import PackageDescription

// A package of its own, so that users of Zoetrope never fetch AsyncHTTPClient.
let package = Package(
  name: "http-frames",
  dependencies: [
    .package(name: "zoetrope", path: "../..", traits: []),
    .package(url: "https://github.com/swift-server/async-http-client", from: "1.30.0"),
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.5.0"),
    .package(url: "https://github.com/apple/swift-nio", from: "2.80.0"),
  ],
  targets: [
    .executableTarget(
      name: "http-frames",
      dependencies: [
        .product(name: "Zoetrope", package: "zoetrope"),
        .product(name: "AsyncHTTPClient", package: "async-http-client"),
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOHTTP1", package: "swift-nio"),
      ],
      path: "Sources",
      swiftSettings: [.enableUpcomingFeature("MemberImportVisibility")])
  ],
  swiftLanguageModes: [.v6]
)
