#!/usr/bin/env bash
# Unpacks libtorch and ONNX Runtime out of their pip wheels into target/native. No Python is needed afterwards.
#
#   target/native/lib       the libraries that engramd loads (libtorch.so is a linker script, for building only)
#   target/native/include   libtorch's headers, for building only
#   target/native/licenses  the licences that came with them
set -euo pipefail
source "$(dirname "$0")/lib.sh"

# name==version, and its wheel's SHA-256 on each machine.
list() {
    case $(uname -m) in
    x86_64) cat <<'LIST'
torch==2.13.0               60fcdcb2f3876e21146cb4524ef06397d727ca9ad5f020818547e25075fe3cb7
nvidia-cuda-runtime==13.0.96 7f82250d7782aa23b6cfe765ecc7db554bd3c2870c43f3d1821f1d18aebf0548
nvidia-cuda-cupti==13.0.85  4eb01c08e859bf924d222250d2e8f8b8ff6d3db4721288cf35d14252a4d933c8
onnxruntime==1.31.1         5752bd508126ae7c49894d3b9d2e83f0c3d487319246d04c444b393308d7ad7f
LIST
    ;;
    aarch64) cat <<'LIST'
torch==2.13.0               092790c696a760c729fd5722835f50b9d81fd7c8f141571f3f3cf4081a8f664c
nvidia-cuda-runtime==13.0.96 ef9bcbe90493a2b9d810e43d249adb3d02e98dd30200d86607d8d02687c43f55
nvidia-cuda-cupti==13.0.85  796bd679890ee55fb14a94629b698b6db54bcfd833d391d5e94017dd9d7d3151
onnxruntime==1.31.1         da05378364c44d4407e463982d2bf8d5e4cfea873283757e48beeb41df97b7f3
LIST
    ;;
    *) die "no native libraries are known for $(uname -m); engram runs on x86_64 and aarch64" ;;
    esac
}

stamp=target/native/.wheels
if [ "$(cat "$stamp" 2>/dev/null)" = "$(list)" ]; then
    say "native libraries: present"
    exit
fi

downloads=target/.setup/wheels
list | wheels "$downloads"

say "native libraries: unpacking"
new=target/native.new
rm -rf "$new" && mkdir -p "$new"/{lib,include,licenses}
torch=$(echo "$downloads"/torch-*.whl)
# Everything libtorch_cpu.so needs, nothing that is for CUDA or Python alone.
unzip -qoj "$torch" 'torch/lib/*.so*' -d "$new/lib" \
    -x '*cuda*' '*nvrtc*' '*nvshmem*' '*python*' '*/libshm.so' '*/libtorch.so' '*global_deps*'
unzip -qo "$torch" 'torch/include/*' -d "$new" && rm -r "$new/include" && mv "$new/torch/include" "$new/include"
rmdir "$new/torch"
unzip -qoj "$downloads"/nvidia_cuda_runtime-*.whl '*/libcudart.so.13' -d "$new/lib"
unzip -qoj "$downloads"/nvidia_cuda_cupti-*.whl '*/libcupti.so.13' -d "$new/lib"
unzip -qoj "$downloads"/onnxruntime-*.whl '*/libonnxruntime.so.1.31.1' -d "$new/lib"
# The wheel's own libtorch.so pulls in CUDA.
echo 'INPUT(-ltorch_cpu)' > "$new/lib/libtorch.so"
unzip -qp "$torch" '*.dist-info/licenses/LICENSE' > "$new/licenses/libtorch.txt"
unzip -qp "$torch" '*.dist-info/licenses/third_party/*' > "$new/licenses/libtorch-third-party.txt"
unzip -qp "$downloads"/onnxruntime-*.whl onnxruntime/LICENSE > "$new/licenses/onnxruntime.txt"
unzip -qp "$downloads"/onnxruntime-*.whl onnxruntime/ThirdPartyNotices.txt > "$new/licenses/onnxruntime-third-party.txt"
unzip -qp "$downloads"/nvidia_cuda_runtime-*.whl '*.dist-info/licenses/*' > "$new/licenses/cuda.txt"
list > "$new/.wheels"
rm -rf target/native && mv "$new" target/native
rm -rf "$downloads"
say "native libraries: $(du -sh target/native/lib | cut -f1) in target/native/lib"
