internal import CDeflate
internal import CXXHash
internal import ZoetropeShims

/// The C libraries of this build, for bug reports and security advisories.
public enum LinkedLibraries {
  /// Names and versions, such as `libpng 1.6.39`: the run-time version of libpng and xxHash, the header
  /// version of giflib and libdeflate, which do not report one at run time.
  public static var versions: [String] {
    // Both strings are NUL-terminated literals of the shims.
    let gif = unsafe String(cString: zt_gif_version())
    let png = unsafe String(cString: zt_png_version())
    let hash = Int(XXH_versionNumber())
    return [
      "giflib \(gif)", "libpng \(png)", "libdeflate \(LIBDEFLATE_VERSION_STRING)",
      "xxHash \(hash / 10000).\(hash / 100 % 100).\(hash % 100)",
    ]
  }
}
