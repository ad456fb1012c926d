internal import CDeflate
internal import CXXHash
internal import ZoetropeShims

/// The C libraries that this build uses, for bug reports and security advisories.
package enum LinkedLibraries {
  /// The names and versions, such as `libpng 1.6.39`. For libpng and xxHash, the version is that of the library loaded
  /// at run time. giflib and libdeflate do not report a version at run time, so their versions are those of the
  /// headers.
  package static var versions: [String] {
    [
      "giflib \(text(zt_gif_version()))", "libpng \(text(zt_png_version()))",
      "libdeflate \(LIBDEFLATE_VERSION_STRING)", "xxHash \(text(XXH_versionNumber()))",
    ]
  }

  /// Returns the text of a version number whose second and third parts have two decimal digits each.
  private static func text(_ version: UInt32) -> String {
    "\(version / 10000).\(version / 100 % 100).\(version % 100)"
  }
}
